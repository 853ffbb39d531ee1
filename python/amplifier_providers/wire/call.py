"""One call of a provider: its requests, several where an answer is continued, until its response."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import anyio

from amplifier_core.llm_errors import InvalidRequestError, LLMError
from amplifier_core.message_models import ChatRequest

from ..limits.places import Place
from ..prices.admission import Payer
from ..prices.allowance import NoRoomError
from ..prompt.call_prompt import CallPrompt, ProviderPrompts
from ..retries import Retries
from .answer import Answer
from .block_events import BlockEvents
from .body import WireRequest
from .call_events import CallEvents
from .errors import note_hint
from .events import Emitter
from .exchange import Exchange
from .fields import JsonDict
from .load import Load
from .options import extra_headers
from .overload import Overload, is_overload
from .repair_report import RepairReport
from .response import WireResponse, build_response
from .sender import Sender
from .settings import HttpSettings
from .usage import CallUsage
from .wire_format import WireFormat

if TYPE_CHECKING:
    from amplifier_stream import StreamChunk, StreamResult

GRACE_SECONDS = 2.0
"""How long the hooks of the end may take where a call was cancelled."""

_ABOUT_THOUGHTS = re.compile(
    r"invalid `?(signature|data)\b|in the latest assistant message|expected `?(redacted_)?thinking"
    r"|encrypted content|required following item|thought.?signature",
    re.IGNORECASE,
)
"""The texts of services that refuse the thinking of a history."""


@dataclass
class Wire:
    """What the calls of one provider share."""

    name: str
    """The provider's name."""
    settings: HttpSettings
    wire_format: WireFormat
    """Writes requests, and reads the blocks of answers."""
    sender: Sender
    """Sends requests."""
    emitter: Emitter
    """Emits the events."""
    payer: Payer
    """Knows what calls cost."""
    retries: Retries
    load: Load
    """How many requests go out at once."""
    overload: Overload
    """The models that are overloaded."""
    repairs: RepairReport
    """Reports what was changed of histories."""
    new_id: Callable[[], str]
    """Returns the id of a tool call that comes without one."""
    prompts: ProviderPrompts
    """Follows the beginnings of requests."""


class Call:
    """One call of a provider; either `complete` or `chunks` makes it."""

    _usage: CallUsage
    """What it uses, admitted by what holds where the call begins, not where it was made."""
    _last: WireRequest
    """The request whose answer came last."""
    _next: WireRequest | None
    """The request that is sent next."""

    def __init__(
        self,
        wire: Wire,
        request: ChatRequest,
        options: Mapping[str, Any],
        longest_answer: Callable[[str], int],
    ) -> None:
        """Take what is asked; nothing is sent.

        Args:
            wire: What the calls of the provider share.
            request: The conversation and the tools.
            options: The keywords of `complete`.
            longest_answer: Returns the tokens of the longest answer of a model where a request
                names no limit.
        """
        self._wire = wire
        self._format = wire.wire_format
        self._request = request
        self._options = options
        self._longest_answer = longest_answer
        self._events = CallEvents(
            wire.name,
            wire.settings,
            wire.emitter,
            wire.payer.pricing,
            repeats_shown=bool(options.get("retry_shown", wire.settings.retry_shown)),
        )
        self._prompt = CallPrompt(wire.prompts, request)
        self._results: list[StreamResult] = []
        self._blocks: list[tuple[JsonDict, JsonDict]] = []
        """The blocks of the answers, each with its raw form."""
        self._block_events: BlockEvents | None = None

    async def complete(self) -> WireResponse:
        """Send what there is to send; return the whole answer."""
        exchange = await self._begin()
        async with self:
            while (encoded := self._next) is not None:
                try:
                    result = await self._wire.retries.call(
                        lambda encoded=encoded: exchange.receive(
                            encoded, self._begin_blocks(encoded)
                        ),
                        encoded.model,
                        may_repeat=self._events.may_repeat,
                        before_retry=self._events.retract_blocks,
                    )
                except LLMError as error:
                    await self._replace_failed(encoded, error)
                except NoRoomError:
                    if not self._results:
                        raise
                    break
                else:
                    self._add(encoded, result)
            return await self._respond()

    async def chunks(self) -> AsyncGenerator[StreamChunk | WireResponse]:
        """Yield the pieces of the answer as they arrive, at the end the whole of it."""
        exchange = await self._begin()
        async with self:
            while (encoded := self._next) is not None:
                answer: Answer | None = None
                place: Place | None = None
                try:
                    block_events = self._begin_blocks(encoded)
                    answer, pieces, place = await self._wire.retries.call(
                        lambda encoded=encoded: exchange.open(encoded),
                        encoded.model,
                        may_repeat=lambda: not self._events.is_shown,
                    )
                    while pieces is not None:
                        for event in pieces:
                            if (chunk := block_events.make_chunk(event)) is not None:
                                self._events.is_shown = True
                                yield chunk
                        pieces = await anext(answer, None)
                    result = answer.result()
                    for event in result.events:
                        if (chunk := block_events.make_chunk(event)) is not None:
                            yield chunk
                except LLMError as error:
                    if answer is not None:
                        self._usage.drop_answer(encoded, answer.receive())
                    await self._replace_failed(encoded, error)
                except NoRoomError:
                    if not self._results:
                        raise
                    break
                else:
                    self._add(encoded, result)
                finally:
                    if answer is not None and place is not None:
                        place.leave()
                        await answer.aclose()
            yield await self._respond()

    async def __aenter__(self) -> Self:
        """Go through the call in `async with`."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Report the end of a call that was cancelled, or left in the middle."""
        self._prompt.close()
        if error is None or isinstance(error, Exception):
            return
        if isinstance(error, anyio.get_cancelled_exc_class() | GeneratorExit):
            with anyio.move_on_after(GRACE_SECONDS, shield=True):
                await self._events.emit_end(
                    {"status": "cancelled", **self._usage.failure_payload()}
                )

    async def _begin(self) -> Exchange:
        """Encode the request, and report that it is sent; return what sends it."""
        wire = self._wire
        headers = extra_headers(self._options, wire.name)
        self._usage = CallUsage(wire.payer, self._request, self._longest_answer)
        await self._format.prepare(self._request, self._options)
        encoded = self._format.write_request(self._request, self._options)
        wanted, other = encoded.model, wire.overload.choose_model(encoded.model)
        if other is not None:
            encoded = await self._in_place_of(wanted, other)
            await self._events.emit_fallback(wanted, other, "still overloaded")
        self._next = self._last = encoded
        await wire.repairs.report(encoded)
        await self._usage.admit(encoded)
        await self._events.emit_prefix_change(encoded.model, self._prompt.note(encoded))
        await self._events.emit_request(encoded, self._request.timeout)
        return Exchange(
            wire.sender,
            wire.load,
            wire.overload,
            self._events,
            self._usage,
            self._prompt,
            headers,
            self._request.timeout,
        )

    def _add(self, encoded: WireRequest, result: StreamResult) -> None:
        """Add an answer, and decide whether another one must follow."""
        self._last = encoded
        self._events.end_answer()
        self._results.append(result)
        self._usage.add(encoded, result)
        self._prompt.settle(result.usage)
        blocks = [] if self._block_events is None else self._block_events.list_blocks(result)
        self._blocks += self._format.link_reasoning(blocks)
        self._next = self._format.build_next_request(
            encoded, self._results, [raw for _, raw in blocks]
        )

    async def _replace_failed(self, encoded: WireRequest, error: LLMError) -> None:
        """Send another request in the place of one that failed, or report and raise the error."""
        repaired = None
        try:
            repaired = await self._repair(encoded, error) if self._events.may_repeat() else None
        except LLMError as other:  # what should be sent instead cannot be
            error = other
        if repaired is not None:
            await self._events.retract_blocks()
            self._next = repaired
            await self._wire.repairs.report(repaired)
            change = self._prompt.note(repaired)
            await self._events.emit_prefix_change(repaired.model, change)
            return
        note_hint(error)
        failure = {"type": type(error).__name__, "msg": str(error)}
        await self._events.emit_end(
            {"status": "error", "error": failure, **self._usage.failure_payload()}
        )
        raise error

    async def _repair(self, encoded: WireRequest, error: LLMError) -> WireRequest | None:
        """Return the request to send in the place of one that failed, if there is any."""
        repaired = self._format.repair_request(encoded, error)
        if repaired is not None:
            return repaired
        other = self._wire.overload.substitute(encoded.model)
        if other is not None and is_overload(error):
            return await self._in_place_of(encoded.model, other)
        return self._without_thoughts(encoded, error)

    def _without_thoughts(self, encoded: WireRequest, error: LLMError) -> WireRequest | None:
        """Return the request without the thoughts of its history, if those were refused."""
        is_refused = type(error) is InvalidRequestError and _ABOUT_THOUGHTS.search(str(error))
        if not is_refused or self._results or not encoded.history.refuse_thoughts():
            return None
        return self._format.write_request(self._request, self._options)

    async def _in_place_of(self, model: str, other: str) -> WireRequest:
        """Return the request for another model, as the one that it names is overloaded."""
        options = {**self._options, "model": other}
        await self._format.prepare(self._request, options)
        encoded = self._format.write_request(self._request, options)
        encoded.degrade(f"`{model}`", f"`{other}`", "the model is overloaded")
        return encoded

    async def _respond(self) -> WireResponse:
        """Report that the answer is there, and return it."""
        last = self._last
        response = build_response(
            self._results,
            self._blocks,
            provider=self._wire.name,
            requested_model=last.model,
            are_emitted=self._events.are_blocks_emitted,
            usage=self._usage.add_up(),
            details=self._usage.details,
            degradations=last.degradations,
            hides_thoughts=last.thinking.is_off,
            metadata=self._format.answer_metadata(last, self._results),
        )
        if self._events.has_hooks:
            model = self._results[-1].model or last.model
            raw = [raw for _, raw in self._blocks]
            await self._events.emit_response(
                model, response.usage, raw, self._describe_prompt(model)
            )
        return response

    def _describe_prompt(self, model: str) -> dict[str, Any]:
        """Return what is known of the cache of the service."""
        prompt, known = self._prompt, dict[str, Any]()
        if prompt.predicted is not None:
            known["predicted_cache_read_tokens"] = prompt.predicted
        if prompt.paid_again is not None:
            known["paid_again_tokens"] = prompt.paid_again
            payer = self._wire.payer
            models = payer.priced_as(self._last.model, model)
            cost = payer.pricing.input_cost(prompt.paid_again, models)
            if cost is not None:
                known["paid_again_usd"] = str(cost)
        return known

    def _begin_blocks(self, encoded: WireRequest) -> BlockEvents:
        """Begin the events of one answer."""
        self._block_events = BlockEvents(
            self._wire.new_id,
            self._format,
            encoded.tool_names,
            len(self._blocks),
            hides_thoughts=encoded.thinking.is_off,
        )
        return self._block_events
