"""Serves the Responses API by hand: `python -m amplifier_testing.servers.responses`."""

from __future__ import annotations

from ..serving._program import run_server
from . import ResponsesServer

if __name__ == "__main__":
    run_server(ResponsesServer)
