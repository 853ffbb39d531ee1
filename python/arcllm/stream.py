"""An answer while it arrives."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from types import TracebackType
from typing import Any, Generic, Never, Self, TypeVar, cast

from typing_extensions import override

from amplifier_core.event_loop import find_asyncio_loop

from .deltas import Delta
from .step import Call, Piece
from .types import LLMResponse

ResponseT = TypeVar("ResponseT", bound=LLMResponse)


class ModelStream(AsyncIterator[Delta | ResponseT], Generic[ResponseT]):
    """Deltas, at the end the response: `async for piece in model.stream(...)`.

    A program that may stop before the end uses `async with` too, which ends the call at once;
    without it, the call ends when the stream is collected as garbage.
    """

    def __init__(self, pieces: AsyncGenerator[Piece], call: Call) -> None:
        """Yield the pieces of a call.

        Args:
            pieces: What the stack yields.
            call: What was asked.
        """
        self._pieces = pieces
        self._call = call
        self._loop: Any = None
        self.response: ResponseT | None = None
        """The response, once it is there."""

    def __iter__(self) -> Never:
        """Refuse a plain `for`.

        Raises:
            TypeError: Always.
        """
        raise TypeError(
            "the stream of a model is asynchronous: use `async for`, or `model.stream_sync`"
        )

    async def __anext__(self) -> Delta | ResponseT:
        """Return the next piece."""
        if self._loop is None:
            self._loop = find_asyncio_loop()
        piece = await anext(self._pieces)
        if not isinstance(piece, LLMResponse):
            return piece
        # To the end: what layers note after an answer is in its metadata, and nothing stays open.
        async for _ in self._pieces:
            pass
        self.response = cast("ResponseT", add_notes(piece, self._call))
        return self.response

    async def aclose(self) -> None:
        """End the call."""
        await self._pieces.aclose()

    async def __aenter__(self) -> Self:
        """Return the stream."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the call."""
        await self.aclose()

    def __del__(self) -> None:
        """End a call that was left in the middle; trio does so by itself.

        asyncio does, too, but begins so late that a loop that ends now would end the generators
        within each other at the same time, each of which would be an error on standard error.
        """
        loop = getattr(self, "_loop", None)
        if loop is None or getattr(self._pieces, "ag_frame", None) is None:
            return
        if loop is find_asyncio_loop():
            closing = _Closing(self._pieces.aclose(), loop=loop)
            _CLOSING.add(closing)
            closing.add_done_callback(_CLOSING.discard)


class _Closing(asyncio.Task[None]):
    """The end of a call, which the end of a loop waits for."""

    @override
    def cancel(self, msg: Any = None) -> bool:
        """Go on: what closes a connection takes no time, and leaves it open if it does not begin."""
        return False


_CLOSING: set[_Closing] = set()
"""Loops alone do not keep their tasks."""


def add_notes(response: LLMResponse, call: Call) -> LLMResponse:
    """Return a response with what the layers noted about its call in the metadata."""
    if call.notes:
        response.metadata = {**response.metadata, **call.notes}
    return response
