"""What a provider returned, checked before a test looks into it."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable
from types import CoroutineType
from typing import Any, cast

from pydantic import BaseModel

from amplifier_core.message_models import ChatResponse, ToolCall
from amplifier_providers.answers.pieces import is_piece
from amplifier_providers.running.closing import closing

from .failing import fail

_PIECES = "must be a text, a `StreamChunk`, an `AgentEvent`, or at the end a `ChatResponse`"
_METHODS = ("complete", "get_info", "parse_tool_calls")


def checked_provider(provider: Any, kit: object) -> Any:
    """Return what `provider` of a kit made, which has the methods of a provider."""
    if provider is None:
        fail(f"`provider` of `{type(kit).__name__}` returned a `NoneType`, not a provider")
    for name in _METHODS:
        if not callable(getattr(provider, name, None)):
            fail(f"the provider has no method `{name}`")
    return provider


def checked_awaitable(returned: Any, method: str) -> Awaitable[Any]:
    """Return what an `async` method returned."""
    if not inspect.isawaitable(returned):
        fail(
            f"`{method}` returned a `{type(returned).__name__}`, which cannot be awaited (must be an"
            " `async` method)"
        )
    return returned


def checked_response(response: Any) -> ChatResponse:
    """Return what `complete` returned, whose blocks and calls are of the right types."""
    if not isinstance(response, ChatResponse):
        fail(f"`complete` returned a `{type(response).__name__}`, not a `ChatResponse`")
    content: Any = response.content
    if not isinstance(content, list):
        fail(f"`content` of the response is a `{type(content).__name__}`, not a list of blocks")
    for place, block in enumerate(cast("list[Any]", content)):
        if not isinstance(block, BaseModel):
            fail(
                f"block {place} of `content` is a `{type(block).__name__}`, not a block such as"
                " `TextBlock`"
            )
    if response.tool_calls is not None:
        checked_calls(response.tool_calls, "`tool_calls`")
    return response


def checked_calls(calls: Any, source: str, says: str = "is") -> list[ToolCall]:
    """Return a list of calls."""
    if not isinstance(calls, list | tuple):
        fail(f"{source} {says} a `{type(calls).__name__}`, not a list")
    found = list(cast("list[Any]", calls))
    for place, call in enumerate(found):
        if not isinstance(call, ToolCall):
            fail(f"call {place} of {source} is a `{type(call).__name__}`, not a `ToolCall`")
    return found


async def checked_pieces(pieces: Any) -> AsyncGenerator[Any]:
    """Yield what `chunks` returned, an async iterator of pieces."""
    given: Any = pieces
    if isinstance(pieces, CoroutineType):
        given.close()
    if not isinstance(pieces, AsyncIterator):
        fail(
            f"`chunks` returned a `{type(given).__name__}`, not an async iterator (must be an"
            " `async` method that yields)"
        )
    async with closing(cast("AsyncIterator[Any]", pieces)) as source:
        async for piece in source:
            if not (isinstance(piece, str | ChatResponse) or is_piece(piece)):
                fail(f"`chunks` yielded a `{type(piece).__name__}` ({_PIECES})")
            yield piece
