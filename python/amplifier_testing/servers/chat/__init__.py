"""A strict server of the Chat Completions API and of vendors that speak it."""

from __future__ import annotations

from .judge import judge
from .presets import PRESETS, Preset
from .server import ChatServer

__all__ = ["PRESETS", "ChatServer", "Preset", "judge"]
