"""A strict server of the OpenAI Responses API."""

from __future__ import annotations

from .judge import judge
from .server import ResponsesServer
from .stored import Stored

__all__ = ["ResponsesServer", "Stored", "judge"]
