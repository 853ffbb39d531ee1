"""Serves Ollama's API by hand: `python -m amplifier_testing.servers.ollama`."""

from __future__ import annotations

from ..serving.by_hand import serve
from . import OllamaServer

if __name__ == "__main__":
    serve(OllamaServer)
