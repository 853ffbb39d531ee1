"""The texts, thoughts and calls of one answer, gathered from its events in their order."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ValidationError

from amplifier_core import world
from amplifier_core.llm_errors import StreamError
from amplifier_core.message_models import (
    ChatResponse,
    ContentBlockUnion,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolCallBlock,
    Usage,
)
from amplifier_stream import (
    AgentEvent,
    MessageContentEvent,
    ParsedCall,
    ProcessedStream,
    RestartEvent,
    ThinkingContentEvent,
    ThinkingEndEvent,
    ToolCallStartEvent,
    process_stream,
)

from .pieces import OtherBlock, Pieces

Kind = Literal["text", "thinking", "call", "other"]
_KIND_OF: dict[str, Kind] = {"message": "text", "thinking": "thinking"}


@dataclass
class Part:
    """A part of an answer."""

    kind: Kind
    text: str = ""
    """The text or the thought."""
    index: int = 0
    """The number of the call."""
    is_open: bool = True
    """Whether a piece of its kind continues it."""


class Gathered:
    """The parts of an answer, and the numbers of its calls."""

    def __init__(self, pieces: Pieces) -> None:
        """Begin with nothing of these pieces."""
        self.parts: list[Part] = []
        self.numbers: dict[int, int] = {}
        """The number of each native call, by its index in the chunks."""
        self._pieces = pieces

    def note(self, event: AgentEvent) -> None:
        """Take an event, before anything changes it."""
        match event:
            case MessageContentEvent(content=text):
                self._add("text", text)
            case ThinkingContentEvent(content=text):
                self._add("thinking", text)
            case ThinkingEndEvent():
                for part in self.parts:
                    part.is_open = part.is_open and part.kind != "thinking"
            case ToolCallStartEvent(index=index):
                self.parts.append(Part("call", index=index))
                if self._pieces.call_index is not None:
                    self.numbers[self._pieces.call_index] = index
            case RestartEvent(content_type=kind):
                self.parts = [part for part in self.parts if part.kind != _KIND_OF.get(kind)]
            case OtherBlock():
                self.parts.append(Part("other"))
            case _:
                pass

    def _add(self, kind: Kind, text: str) -> None:
        if self.parts and self.parts[-1].kind == kind and self.parts[-1].is_open:
            self.parts[-1].text += text
        else:
            self.parts.append(Part(kind, text))

    def join_text(self, kind: Kind = "text") -> str:
        """Return the text, or the thinking, so far."""
        return "".join(part.text for part in self.parts if part.kind == kind)

    def build_response(self, answer: ProcessedStream, calls: dict[int, ToolCall]) -> ChatResponse:
        """Return the response of an answer that ended without one.

        Args:
            answer: What became of it.
            calls: Its calls by their numbers.
        """
        content: list[ContentBlockUnion] = []
        for part in self.parts:
            if part.kind == "text" and (part.text.strip() or not calls):
                content.append(TextBlock(text=part.text))
            elif part.kind == "thinking":
                content.append(ThinkingBlock(thinking=part.text))
            elif part.kind == "call" and part.index in calls:
                content.append(block_of(calls[part.index]))
        return ChatResponse(
            content=content,
            tool_calls=list(calls.values()) or None,
            usage=_read_usage(answer.usage),
            metadata={"truncated": True} if answer.truncated else None,
        )


def tool_call(call: ParsedCall) -> ToolCall:
    """Return a call as responses have it; one that cannot run has an `error` and no arguments."""
    arguments = call.arguments
    known: dict[str, Any] = {
        "id": call.id or f"call_{world.random_bytes(16).hex()}",
        "name": call.name,
    }
    if arguments is None:
        return ToolCall(**known, arguments={}, **broken_call_fields(call.error, call))
    return ToolCall(**known, arguments=arguments)


def broken_call_fields(error: str | None, call: ParsedCall) -> dict[str, Any]:
    """Return the fields of a call that cannot run."""
    return {"error": error, "raw_arguments": call.raw}


def block_of(call: ToolCall) -> ToolCallBlock:
    """Return the content block of a call."""
    more = call.model_extra or {}
    return ToolCallBlock(id=call.id, name=call.name, input=call.arguments, **more)


def error_of(answer: ProcessedStream) -> Exception | None:
    """Return what to raise for an answer that failed."""
    if answer.error is None or isinstance(answer.error, Exception):
        return answer.error
    return StreamError(f"the answer failed: {answer.error}")


async def whole_response(source: AsyncIterator[Any]) -> ChatResponse:
    """Return the response that these pieces of an answer make.

    Raises:
        Exception: What the source raised, or the error of a chunk.
    """
    pieces = Pieces(source)
    gathered = Gathered(pieces)
    answer = await process_stream(pieces.chunks(), gathered.note, tool_tags=None)
    if (error := error_of(answer)) is not None:
        raise error
    if pieces.response is not None:
        return pieces.response
    calls = {call.index: tool_call(call) for call in answer.calls}
    return gathered.build_response(answer, calls)


def _read_usage(usage: Any) -> Usage | None:
    """Return a usage in our form; None for one that counts in another form."""
    if usage is None:
        return None
    try:
        return Usage.model_validate(usage, from_attributes=True)
    except ValidationError:
        return None
