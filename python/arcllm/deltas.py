"""What `stream` yields while an answer arrives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the text."""

    text: str
    block: int = 0
    """Which block of the answer it belongs to."""


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """More of a thought."""

    text: str
    block: int = 0


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """The beginning of a call, or more of its arguments."""

    index: int
    """Which call of the answer it is."""
    id: str
    name: str
    """Which tool is called. Like the id, it is one line that a terminal can show: what would control
    the terminal is escaped."""
    arguments: str
    """More of the JSON of the arguments, not whole before the response is there."""
    block: int = 0
    """Which block of the answer it is."""


@dataclass(frozen=True, slots=True)
class RetractedDelta:
    """The service took a block back: what was yielded of it is void."""

    block: int


Delta: TypeAlias = TextDelta | ThinkingDelta | ToolCallDelta | RetractedDelta
