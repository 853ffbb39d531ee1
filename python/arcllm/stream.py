"""An answer while it arrives."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from types import TracebackType
from typing import Generic, Self, TypeVar, cast

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
        self.response: ResponseT | None = None
        """The response, once it is there."""

    async def __anext__(self) -> Delta | ResponseT:
        """Return the next piece."""
        piece = await anext(self._pieces)
        if not isinstance(piece, LLMResponse):
            return piece
        # To the end: what layers note after an answer is in its metadata, and nothing stays open.
        async for _ in self._pieces:
            pass
        self.response = cast("ResponseT", noted(piece, self._call))
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


def noted(response: LLMResponse, call: Call) -> LLMResponse:
    """Return a response with what the layers noted about its call in the metadata."""
    if call.notes:
        response.metadata = {**response.metadata, **call.notes}
    return response
