"""Serves the Responses API by hand: `python -m amplifier_testing.servers.responses`."""

from __future__ import annotations

from ..serving.by_hand import serve
from . import ResponsesServer

if __name__ == "__main__":
    serve(ResponsesServer)
