"""Serves the Anthropic Messages API by hand: `python -m amplifier_testing.servers.anthropic`."""

from __future__ import annotations

from ..serving.by_hand import serve
from . import AnthropicServer

if __name__ == "__main__":
    serve(AnthropicServer)
