"""A strict server of Ollama: its own API, and Chat Completions as it speaks them."""

from __future__ import annotations

from .judge import judge
from .models import OllamaModel
from .server import OllamaServer

__all__ = ["OllamaModel", "OllamaServer", "judge"]
