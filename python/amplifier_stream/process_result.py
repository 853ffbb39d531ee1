"""What a processed answer amounts to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from amplifier_stream.tag import ParsedCall

__all__ = ["ProcessedStream"]


@dataclass(frozen=True)
class ProcessedStream:
    """What an answer amounts to, whole or not."""

    assistant_content: str
    """The text without thinking and calls."""
    thinking_content: str
    """The thinking."""
    tool_call_content: str
    """The calls that may run, each as a JSON object or as it stood in its tags, on its own lines."""
    role: str
    """Who speaks."""
    calls: list[ParsedCall] = field(default_factory=list[ParsedCall])
    """All calls in the order of their beginnings, those that must not run too."""
    usage: Any = None
    """What the answer cost, as the last chunk that tells says."""
    truncated: bool = False
    """Whether the answer ended before its last chunk; then no call of it may run."""
    cancelled: bool = False
    """Whether the answer was given up."""
    error: Any = None
    """What went wrong: the error of a chunk, or the exception that its source raised."""
