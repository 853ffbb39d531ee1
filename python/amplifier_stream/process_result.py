"""The result of a processed answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from amplifier_stream.tag import ParsedCall

__all__ = ["ProcessedStream"]


@dataclass(frozen=True)
class ProcessedStream:
    """The result of an answer, complete or not."""

    assistant_content: str
    """The text without thinking and calls."""
    thinking_content: str
    """The thinking."""
    tool_call_content: str
    """The calls that may run, each as a JSON object or as written in its tags, on its own lines."""
    role: str
    """The speaker."""
    calls: list[ParsedCall] = field(default_factory=list[ParsedCall])
    """The calls in the order in which they began, including those that must not run, without those that
    the provider took back."""
    usage: Any = None
    """The usage from the last chunk that has it."""
    truncated: bool = False
    """Whether the answer ended before its last chunk; then no call of it may run."""
    cancelled: bool = False
    """Whether the answer was cancelled."""
    error: Any = None
    """The error of a chunk, or the exception that its source raised."""
