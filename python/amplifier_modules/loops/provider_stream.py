"""Answers of providers with a `stream` method, gathered into one response."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Mapping
from typing import Any, cast

from amplifier_core.events import CONTENT_BLOCK_DELTA, CONTENT_BLOCK_END, CONTENT_BLOCK_START
from amplifier_core.message_models import ChatRequest, ChatResponse, TextBlock, ToolCall, Usage

from ..closing import closing
from .blocks import emit_blocks
from .hook_points import HookPoints
from .response import BLOCKS_EMITTED, RequestedCall, calls_of

_TEXT_KEYS = ("content", "text", "delta")


def streams(provider: Any) -> bool:
    """Whether the provider itself defines a `stream` method."""
    # A mock has any attribute, but only once it is accessed.
    return callable(inspect.getattr_static(provider, "stream", None))


async def gather_stream(
    hooks: HookPoints, provider: Any, request: ChatRequest, **options: Any
) -> ChatResponse:
    """Emit the text of a provider's stream as it comes, and return the whole response.

    A piece is a text, or a mapping or object with `content` (or `text`, `delta`), `tool_calls`,
    `usage` and `finish_reason`. A piece that is a `ChatResponse` is the response, complete.
    """
    texts: list[str] = []
    calls: list[RequestedCall] = []
    found: dict[str, Any] = {}
    place = {"block_type": "text", "block_index": 0}
    stream: AsyncIterator[Any] = provider.stream(request, tools=request.tools or [], **options)
    complete: ChatResponse | None = None
    async with closing(stream) as pieces:
        async for piece in pieces:
            if isinstance(piece, ChatResponse):
                complete = piece
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
    block = {"type": "text", "text": "".join(texts)}
    if texts:
        await hooks.emit(CONTENT_BLOCK_END, {**place, "block": block})
    if complete is not None:
        if texts:
            await emit_blocks(hooks, complete, with_deltas=True, after_text=True)
        emitted = {BLOCKS_EMITTED: True} if texts else {}
        return complete.model_copy(update={"metadata": {**(complete.metadata or {}), **emitted}})
    usage = found.get("usage")
    return ChatResponse(
        content=[TextBlock(text=block["text"])] if texts else [],
        tool_calls=[_tool_call(call) for call in calls] or None,
        usage=Usage.model_validate(usage, from_attributes=True) if usage else None,
        finish_reason=found.get("finish_reason"),
        metadata={BLOCKS_EMITTED: True},
    )


class _Piece:
    """The tool calls of a piece, in the attribute of a response."""

    def __init__(self, tool_calls: Any) -> None:
        self.tool_calls = tool_calls


def _tool_call(call: RequestedCall) -> ToolCall:
    extra = {"error": call.problem} if call.problem else {}
    return ToolCall.model_validate(
        {"id": call.id, "name": call.name, "arguments": call.arguments or {}, **extra}
    )


def _text(piece: Any) -> str:
    if isinstance(piece, str):
        return piece
    values = (_field(piece, key) for key in _TEXT_KEYS)
    return next((value for value in values if isinstance(value, str)), "")


def _field(piece: Any, key: str) -> Any:
    if isinstance(piece, Mapping):
        return cast("Mapping[str, Any]", piece).get(key)
    return getattr(piece, key, None)
