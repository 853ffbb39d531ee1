"""How a provider is asked, and the pieces that it answers in."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Any, cast

from amplifier_core.message_models import (
    ChatRequest,
    ChatResponse,
    TextBlock,
    ToolCall,
    ToolCallBlock,
    Usage,
)
from amplifier_providers.base import answers_in_chunks, checked_chunks, has_extension
from amplifier_providers.running.closing import closing
from amplifier_providers.running.stored_attribute import find_stored

from .response import RequestedCall, calls_of

_TEXT_KEYS = ("content", "text", "delta")


def answer_in_pieces(
    provider: Any, request: ChatRequest, *, is_tagged: bool = False, **options: Any
) -> AsyncIterator[Any] | None:
    """Return the answer as it comes; None for a provider whose `complete` is to be called.

    That is `stream` where the provider defines it, else `chunks` of a `BaseProvider` that inherits
    `complete`. A provider that defines `complete` is asked by it, whether it has `chunks` or not:
    it may emit the events of its blocks itself. Where calls are tags, which no display may see,
    that is `chunks` of any provider that has it.
    """
    has_stream = callable(find_stored(provider, "stream"))
    has_chunks = is_tagged and has_own_chunks(provider)
    if not has_extension():
        return None
    if has_stream and not has_chunks:
        return _pieces_of_stream(provider.stream(request, tools=request.tools or [], **options))
    if has_chunks or answers_in_chunks(provider):
        return checked_chunks(provider, request, **options)
    return None


def has_own_chunks(provider: Any) -> bool:
    """Whether a provider defines `chunks`, other than by inheriting that of `BaseProvider`."""
    from amplifier_providers.base import BaseProvider

    chunks = find_stored(provider, "chunks")
    return callable(chunks) and chunks is not BaseProvider.chunks


async def _pieces_of_stream(answer: AsyncIterator[Any]) -> AsyncGenerator[str | ChatResponse]:
    """Yield the texts of a `stream`, and the response that its other pieces make.

    A piece is a text, or a mapping or object with `content` (or `text`, `delta`), `tool_calls`,
    `usage` and `finish_reason`. A piece that is a `ChatResponse` is the response, complete.
    """
    texts: list[str] = []
    calls: list[RequestedCall] = []
    found: dict[str, Any] = {}
    response: ChatResponse | None = None
    async with closing(answer) as pieces:
        async for piece in pieces:
            if isinstance(piece, ChatResponse):
                response = piece
                continue
            if text := _read_text(piece):
                texts.append(text)
                yield text
            calls += calls_of(None, _Piece(_read_field(piece, "tool_calls")))
            found.update(
                {
                    key: value
                    for key in ("usage", "finish_reason")
                    if (value := _read_field(piece, key))
                }
            )
    yield response or _build_response("".join(texts), calls, **found)


class _Piece:
    """The tool calls of a piece, in the attribute of a response."""

    def __init__(self, tool_calls: Any) -> None:
        self.tool_calls = tool_calls


def _build_response(
    text: str, calls: list[RequestedCall], usage: Any = None, finish_reason: Any = None
) -> ChatResponse:
    content: list[Any] = [TextBlock(text=text)] if text else []
    tool_calls: list[ToolCall] = []
    for call in calls:
        named: dict[str, Any] = {"id": call.id, "name": call.name}
        named |= {"error": call.problem} if call.problem else {}
        content.append(ToolCallBlock.model_validate({**named, "input": call.arguments or {}}))
        tool_calls.append(ToolCall.model_validate({**named, "arguments": call.arguments or {}}))
    return ChatResponse(
        content=content,
        tool_calls=tool_calls or None,
        usage=Usage.model_validate(usage, from_attributes=True) if usage else None,
        finish_reason=finish_reason,
    )


def _read_text(piece: Any) -> str:
    if isinstance(piece, str):
        return piece
    values = (_read_field(piece, key) for key in _TEXT_KEYS)
    return next((value for value in values if isinstance(value, str)), "")


def _read_field(piece: Any, key: str) -> Any:
    if isinstance(piece, Mapping):
        return cast("Mapping[str, Any]", piece).get(key)
    return getattr(piece, key, None)
