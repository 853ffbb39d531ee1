"""What is known of a call when it is over, for layers that only watch."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from amplifier_core import world
from amplifier_providers.running.closing import closing

from ..step import Call, Piece, Step
from ..types import LLMResponse
from .layer import Layer

MarkT = TypeVar("MarkT")


@dataclass(slots=True)
class Observation(Generic[MarkT]):
    """A call, from its beginning to its end; times in nanoseconds."""

    call: Call
    provider: str
    """Who was asked; `known` knows whether another one answered."""
    model: str
    mark: MarkT
    """What the layer keeps of the beginning."""
    begun: int
    is_stream: bool
    first: int | None = None
    """When the first piece of a stream arrived."""
    ended: int = 0
    """When the response or the error came, or the consumer stopped."""
    response: LLMResponse | None = None
    error: BaseException | None = None
    """Why there is no response; a `GeneratorExit` where the consumer of a stream stopped."""

    @property
    def seconds(self) -> float:
        """How long it took."""
        return (self.ended - self.begun) / 1e9

    @property
    def first_seconds(self) -> float | None:
        """After which time the first piece of a stream arrived."""
        return None if self.first is None else (self.first - self.begun) / 1e9

    def find_note(self, name: str) -> Any:
        """Return a note on the call, or else what its response has in its metadata, or None."""
        if (note := self.call.notes.get(name)) is not None:
            return note
        return None if self.response is None else self.response.metadata.get(name)

    @property
    def outcome(self) -> str:
        """`ok`, `stopped` by the consumer of a stream, `cancelled`, or the class of the error."""
        if self.error is None:
            return "ok"
        if isinstance(self.error, GeneratorExit):
            return "stopped"
        return type(self.error).__name__ if isinstance(self.error, Exception) else "cancelled"


def monotonic_ns() -> int:
    """Return `world.monotonic` in nanoseconds."""
    return round(world.monotonic() * 1e9)


class ObservingLayer(Layer, Generic[MarkT]):
    """Calls `_begin_call` before and `_end_call` after each call, however it ends.

    Args:
        beneath: What is asked for the answer.
        clock: Returns the current time in nanoseconds.
    """

    def __init__(self, beneath: Step, clock: Callable[[], int] = monotonic_ns) -> None:
        super().__init__(beneath)
        self._clock = clock

    async def complete(self, call: Call) -> LLMResponse:
        """Return the whole answer."""
        seen = self._begin_observation(call, is_stream=False)
        try:
            seen.response = await self._answer(seen)
        except BaseException as error:
            seen.error = error
            raise
        else:
            return seen.response
        finally:
            seen.ended = self._clock()
            self._end_call(seen)

    async def stream(self, call: Call) -> AsyncGenerator[Piece]:
        """Yield the answer as it arrives, at the end the response."""
        seen = self._begin_observation(call, is_stream=True)
        try:
            async with closing(self._stream_pieces(seen)) as pieces:
                async for piece in pieces:
                    if seen.first is None:
                        seen.first = self._clock()
                    if isinstance(piece, LLMResponse):
                        seen.response, seen.ended = piece, self._clock()
                    yield piece
        except BaseException as error:
            # Whoever has the response may leave without asking for more.
            if seen.response is None:
                seen.error = error
            raise
        finally:
            seen.ended = seen.ended or self._clock()
            self._end_call(seen)

    def _begin_observation(self, call: Call, *, is_stream: bool) -> Observation[MarkT]:
        call, mark = self._begin_call(call)
        return Observation(call, self.name, self.model_name, mark, self._clock(), is_stream)

    def _begin_call(self, call: Call) -> tuple[Call, MarkT]:
        """Return the call as it goes on, and what `_end_call` needs."""
        return call, cast("MarkT", None)

    async def _answer(self, seen: Observation[MarkT]) -> LLMResponse:
        return await self.beneath.complete(seen.call)

    def _stream_pieces(self, seen: Observation[MarkT]) -> AsyncGenerator[Piece]:
        return self.beneath.stream(seen.call)

    def _end_call(self, seen: Observation[MarkT]) -> None:
        """Take note of a call that is over; it must not raise."""
        raise NotImplementedError
