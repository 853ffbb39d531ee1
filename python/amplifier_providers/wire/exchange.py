"""One request of a call and its answer, as often as it is tried."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from amplifier_core.llm_errors import LLMError

from ..limits.places import Place
from ..prompt.call_prompt import CallPrompt
from .answer import Answer
from .block_events import BlockEvents
from .body import WireRequest
from .call_events import CallEvents
from .errors import ChallengeError
from .load import Load
from .overload import Overload, is_overload
from .sender import Sender
from .usage import CallUsage

if TYPE_CHECKING:
    from amplifier_stream import StreamEvent, StreamResult

T = TypeVar("T")

OpenAnswer: TypeAlias = "tuple[Answer, list[StreamEvent] | None, Place]"
"""An answer that has begun, its first events, and the place among the calls that it takes."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """Sends the requests of one call and reads their answers, each once."""

    sender: Sender
    load: Load
    """How many requests go out at once."""
    overload: Overload
    """The models that are overloaded."""
    events: CallEvents
    usage: CallUsage
    prompt: CallPrompt
    headers: Mapping[str, str]
    """What the program adds to the headers of each request."""
    longest_wait: float | None
    """Seconds to wait for the next byte; the configured timeout if None."""

    def receive(self, encoded: WireRequest, block_events: BlockEvents) -> Awaitable[StreamResult]:
        """Send a request and read its answer to the end, with the events of its blocks."""
        return self._try_once(encoded, self._receive(encoded, block_events))

    def open(self, encoded: WireRequest) -> Awaitable[OpenAnswer]:
        """Open an answer and read until it has an event, so that a failure before can be retried."""
        return self._try_once(encoded, self._open(encoded))

    async def _try_once(self, encoded: WireRequest, attempt: Awaitable[T]) -> T:
        """Await one attempt; where its model is overloaded, another one is asked at once."""
        try:
            return await attempt
        except LLMError as error:
            other = self.overload.substitute(encoded.model)
            if other is not None and is_overload(error) and self.events.may_repeat():
                error.retryable = False
                await self.overload.note(encoded.model)
                await self.events.emit_fallback(encoded.model, other, "overloaded")
            raise

    async def _receive(self, encoded: WireRequest, block_events: BlockEvents) -> StreamResult:
        place = await self.load.enter(encoded.model)
        try:
            answer = await self._open_answer(encoded)
            try:
                if self.events.are_blocks_heard:
                    emit_blocks = self.events.emit_blocks
                    async for pieces in answer:
                        if pieces and (emitting := emit_blocks(pieces, block_events)) is not None:
                            await emitting
                        # Not to be held while the next ones are waited for.
                        del pieces
                    result = answer.result()
                    if (emitting := emit_blocks(result.events, block_events)) is not None:
                        await emitting
                else:
                    await answer.read()
                    result = answer.result()
            except BaseException:
                self.usage.drop_answer(encoded, answer.receive())
                raise
            finally:
                await answer.aclose()
        finally:
            place.leave()
        return result

    async def _open(self, encoded: WireRequest) -> OpenAnswer:
        place = await self.load.enter(encoded.model)
        try:
            answer = await self._open_answer(encoded)
            try:
                pieces: list[StreamEvent] | None = []
                while pieces == []:
                    pieces = await anext(answer, None)
                if pieces is None:
                    answer.result()
            except BaseException:
                self.usage.drop_answer(encoded, answer.receive())
                await answer.aclose()
                raise
        except BaseException:
            place.leave()
            raise
        return answer, pieces, place

    async def _open_answer(self, encoded: WireRequest) -> Answer:
        if self.headers:
            encoded.headers = {**self.headers, **encoded.headers}
        await self.usage.admit(encoded)
        await self.events.emit_notices(encoded)
        self.prompt.send(encoded)
        try:
            return await self.sender.open_answer(encoded, self.longest_wait)
        except LLMError as error:
            self.usage.drop_attempt(error)
            if error.status_code is not None:
                self.prompt.refuse()
            if isinstance(error, ChallengeError):
                await self.events.emit_challenge(encoded.model, error)
            raise
