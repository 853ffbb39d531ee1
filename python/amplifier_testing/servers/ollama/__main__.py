"""Serves Ollama's API by hand: `python -m amplifier_testing.servers.ollama`."""

from __future__ import annotations

from ..serving._program import run_server
from . import OllamaServer

if __name__ == "__main__":
    run_server(OllamaServer)
