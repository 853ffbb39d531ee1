"""Serves the Anthropic Messages API by hand: `python -m amplifier_testing.servers.anthropic`."""

from __future__ import annotations

from ..serving._program import run_server
from . import AnthropicServer

if __name__ == "__main__":
    run_server(AnthropicServer)
