"""The events of an answer for an agent, room for its own, and the result at the end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from amplifier_stream.process_chunk import ChunkType
from amplifier_stream.tag import ParsedCall

__all__ = [
    "AgentEvent",
    "CustomEvent",
    "ErrorEvent",
    "MessageContentEvent",
    "MessageEndEvent",
    "MessageStartEvent",
    "ProcessedStream",
    "RestartEvent",
    "ThinkingContentEvent",
    "ThinkingEndEvent",
    "ThinkingStartEvent",
    "ToolCallContentEvent",
    "ToolCallEndEvent",
    "ToolCallStartEvent",
]


@dataclass(frozen=True)
class AgentEvent:
    """An event of an answer; agents and providers can derive their own types."""

    @property
    def type(self) -> str:
        """The name of the type."""
        return type(self).__name__


@dataclass(frozen=True)
class ThinkingStartEvent(AgentEvent):
    """Thinking begins."""


@dataclass(frozen=True)
class ThinkingContentEvent(AgentEvent):
    """Thinking continues."""

    content: str


@dataclass(frozen=True)
class ThinkingEndEvent(AgentEvent):
    """Thinking ends."""


@dataclass(frozen=True)
class ToolCallStartEvent(AgentEvent):
    """A call begins."""

    index: int
    """The number of the call."""
    id: str | None = None
    """The provider's id, of a native call."""
    name: str | None = None
    """The name of the tool, if it is already known."""


@dataclass(frozen=True)
class ToolCallContentEvent(AgentEvent):
    """A call continues."""

    index: int
    """The number of the call."""
    content: str
    """What was added; empty if only the name became known."""
    name: str | None = None
    """The name of the tool, in the one event in which it becomes known."""


@dataclass(frozen=True)
class ToolCallEndEvent(AgentEvent):
    """A call ends; it may run only if it has arguments."""

    index: int
    """The number of the call."""
    call: ParsedCall
    """The call so far; it is not known yet whether the answer will be complete."""


@dataclass(frozen=True)
class MessageStartEvent(AgentEvent):
    """The message begins; it ends with the answer."""


@dataclass(frozen=True)
class MessageContentEvent(AgentEvent):
    """The message continues."""

    content: str


@dataclass(frozen=True)
class MessageEndEvent(AgentEvent):
    """The message ends."""


@dataclass(frozen=True)
class RestartEvent(AgentEvent):
    """The message or the thinking starts again: forget its text so far, the text that counts follows."""

    content_type: ChunkType
    """What starts again: `message` or `thinking`."""


@dataclass(frozen=True)
class ErrorEvent(AgentEvent):
    """The answer failed; no event follows."""

    error: Any
    """The error of the chunk, or the exception that its source raised."""


@dataclass(frozen=True)
class CustomEvent(AgentEvent):
    """An event of the agent or the provider that has no type of its own."""

    name: str
    data: Any = None


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
