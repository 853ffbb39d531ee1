"""Answers that arrive in pieces, gathered into one response."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Mapping
from typing import Any, cast

from amplifier_core.events import CONTENT_BLOCK_DELTA, CONTENT_BLOCK_END, CONTENT_BLOCK_START
from amplifier_core.message_models import (
    ChatRequest,
    ChatResponse,
    TextBlock,
    ToolCall,
    ToolCallBlock,
    Usage,
)

from ..closing import closing
from ..providers.base import answers_in_chunks, checked_chunks
from .blocks import block_records, emit_blocks
from .hook_points import HookPoints
from .response import BLOCKS_EMITTED, RequestedCall, calls_of

_TEXT_KEYS = ("content", "text", "delta")


def answer_in_pieces(
    provider: Any, request: ChatRequest, **options: Any
) -> AsyncIterator[Any] | None:
    """Return the answer as it comes; None for a provider whose `complete` is to be called.

    That is `stream` where the provider defines it, else `chunks` of a `BaseProvider` that inherits
    `complete`. A provider that defines `complete` is asked by it, whether it has `chunks` or not.
    """
    # A mock has any attribute, but only once it is accessed.
    if callable(inspect.getattr_static(provider, "stream", None)):
        return provider.stream(request, tools=request.tools or [], **options)
    if answers_in_chunks(provider):
        return checked_chunks(provider, request, **options)
    return None


async def gather_pieces(hooks: HookPoints, answer: AsyncIterator[Any]) -> ChatResponse:
    """Emit the text of an answer as it comes, and return the whole response.

    A piece is a text, or a mapping or object with `content` (or `text`, `delta`), `tool_calls`,
    `usage` and `finish_reason`. A piece that is a `ChatResponse` is the response, complete.
    """
    texts: list[str] = []
    calls: list[RequestedCall] = []
    found: dict[str, Any] = {}
    place = {"block_type": "text", "block_index": 0}
    response: ChatResponse | None = None
    async with closing(answer) as pieces:
        async for piece in pieces:
            if isinstance(piece, ChatResponse):
                response = piece
                continue
            if text := _text(piece):
                if not texts:
                    await hooks.emit(CONTENT_BLOCK_START, {**place, "metadata": None})
                texts.append(text)
                await hooks.emit(CONTENT_BLOCK_DELTA, {**place, "delta": text})
            calls += calls_of(None, _Piece(_field(piece, "tool_calls")))
            found.update(
                {key: value for key in ("usage", "finish_reason") if (value := _field(piece, key))}
            )
    text = "".join(texts)
    if response is None:
        response = _response(text, calls, **found)
    if not texts:
        return response
    await hooks.emit(CONTENT_BLOCK_END, {**place, "block": _text_block(response, text)})
    await emit_blocks(hooks, response, with_deltas=True, after_text=True)
    metadata = {**(response.metadata or {}), BLOCKS_EMITTED: True}
    return response.model_copy(update={"metadata": metadata})


class _Piece:
    """The tool calls of a piece, in the attribute of a response."""

    def __init__(self, tool_calls: Any) -> None:
        self.tool_calls = tool_calls


def _response(
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


def _text_block(response: ChatResponse, text: str) -> dict[str, Any]:
    """Return the block of the text that was emitted, as the response has it if it is there."""
    blocks = [record for record, _ in block_records(response) if record.get("type") == "text"]
    if len(blocks) == 1 and blocks[0].get("text") == text:
        return blocks[0]
    return {"type": "text", "text": text}


def _text(piece: Any) -> str:
    if isinstance(piece, str):
        return piece
    values = (_field(piece, key) for key in _TEXT_KEYS)
    return next((value for value in values if isinstance(value, str)), "")


def _field(piece: Any, key: str) -> Any:
    if isinstance(piece, Mapping):
        return cast("Mapping[str, Any]", piece).get(key)
    return getattr(piece, key, None)
