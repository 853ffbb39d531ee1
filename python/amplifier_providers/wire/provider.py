"""A provider over HTTP: what all of them do the same way around their wire."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from decimal import Decimal
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from amplifier_core import world
from amplifier_core._kernel.capability_names import OBSERVABILITY_EVENTS, SESSION_COST
from amplifier_core.llm_errors import LLMError
from amplifier_core.message_models import ChatRequest, ChatResponse, ToolCall
from amplifier_core.models import ModelInfo, ProviderInfo

from ..limits.places import Place
from ..prices.allowance import NoRoomError
from ..prices.input_bound import InputCounts
from ..prices.pricing import Pricing
from ..requests.model_window import limits_of, messages_budget
from ..retries import Retries
from ..running.call_purpose import with_purpose
from ..setting_attributes import SettingAttribute, changed_setting
from .answer import Answer
from .body import WireRequest
from .call import Call, note_hint
from .client import ServiceClient
from .errors import ChallengeError
from .events import PROVIDER_CLOUDFLARE_CHALLENGE
from .fields import JsonDict
from .load import Load
from .overload import Overload, is_overload
from .repair_report import RepairReport
from .service import Service
from .settings import HttpSettings

if TYPE_CHECKING:
    from amplifier_stream import StreamChunk, StreamResult

logger = logging.getLogger(__name__)

T = TypeVar("T")

_LONGEST_ANSWER = 8_192
"""Tokens of an answer of a model of which nothing is known."""


def new_call_id() -> str:
    """Return an id for a call that the service gave none."""
    return f"call_{world.random_bytes(12).hex()}"


class WireProvider:
    """A provider for one service.

    The blocks of an answer are emitted as `content_block:*` events as they arrive; responses have
    `content_blocks_emitted` in their metadata where hooks heard them. Every failure is one of
    `llm_errors`. A provider of its own says how a request is encoded and what the models can do.
    """

    path: str
    """Where requests go, after the base URL."""
    asks_allowance = True
    """Whether each request is sent only within what its call may use."""
    hides_thoughts = True
    """Whether it keeps back itself the thoughts that nobody asked for."""
    own_events: ClassVar[tuple[str, ...]] = ()
    """The events of this provider alone."""
    limit_key: str = "max_tokens"
    """Where the body of a request limits the answer."""
    default_model = SettingAttribute[str | None]()
    """Model of requests that name none."""
    max_tokens = SettingAttribute[int | None]()
    """Tokens of the answers of requests that name no limit."""
    temperature = SettingAttribute[float | None]()
    """Randomness of the answers of requests that name none."""
    short_names: ClassVar[Mapping[str, str]] = {}
    """Short names of models for `fallback_model`."""

    def __init__(
        self,
        service: Service,
        settings: HttpSettings,
        client: ServiceClient,
        hooks: Any = None,
        *,
        retries: Retries | None = None,
        new_id: Callable[[], str] = new_call_id,
    ) -> None:
        """Set the provider up; nothing is sent and no connection is made.

        Args:
            service: Who is called.
            settings: Its settings.
            client: How it is reached.
            hooks: The registry that gets its events; None for no events.
            retries: The retries of its calls; None for those of the settings.
            new_id: Returns the id of a call that comes without one.
        """
        self.service = service
        self.name = service.name
        self.settings = settings
        self.priority = settings.priority
        self.tool_tags = settings.tool_tags
        self._client = client
        self.hooks = hooks
        self._retries = retries or Retries(service.name, settings, hooks)
        self._retries.endpoint = client.endpoint
        self.new_id = new_id
        self._load = Load(
            service.name, settings, client.endpoint, self.emit, sleep=self._retries.wait
        )
        client.on_headers = self._load.note
        self.overload = Overload(settings, client.endpoint, service.module_name, self.short_names)
        self.encoding = Lock()
        """Held while a request is encoded: sessions of several threads may share a provider."""
        self.repairs = RepairReport(service.name, self.emit)
        self.pricing = Pricing(service.name, client.shown_url, settings.prices)
        """The prices of its calls, and what they have cost so far."""
        self.inputs = InputCounts()
        """What the service counted of the last requests."""

    def __repr__(self) -> str:
        """Show the base URL, never the key."""
        return f"{type(self).__name__}(base_url={self._client.shown_url!r})"

    @property
    def reasoning(self) -> str | None:
        """Effort of requests that name none."""
        return self.settings.reasoning or self.settings.reasoning_effort

    @reasoning.setter
    def reasoning(self, effort: str | None) -> None:
        module = self.service.module_name
        changed = changed_setting(self.settings, "reasoning", effort, module)
        if effort is None:
            changed = changed_setting(changed, "reasoning_effort", None, module)
        self.use_settings(changed)

    def use_settings(self, settings: Any) -> None:
        """Encode requests with these settings from now on; how calls are made stays as it is."""
        self.settings = settings

    @property
    def reports_cost(self) -> bool:
        """Whether responses say what they cost, as a budget of `cost` needs."""
        return self.unpriced_model is None

    @property
    def unpriced_model(self) -> str | None:
        """The model of the settings if no price of it is known, else None."""
        model = self.get_model_info().id
        return None if self.pricing.knows(self.priced_as(model, None)) else model

    def input_cost(self, tokens: int) -> Decimal | None:
        """Return what so many tokens of a request cost that no cache knows; None if not known."""
        return self.pricing.input_cost(tokens, self.priced_as(self.get_model_info().id, None))

    def longest_answer(self, model: str) -> int:
        """Return the tokens of the longest answer of a model where a request names no limit."""
        return limits_of(self.get_model_info(model))[1] or _LONGEST_ANSWER

    async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
        """Send `request` and return the whole answer.

        Args:
            request: The conversation and the tools.
            **options: `model`, `max_tokens`, `temperature`, `reasoning` or `reasoning_effort`,
                `extended_thinking`, `thinking_budget_tokens`, `extra_headers`, `retry_shown` and what the provider's encoder takes
                besides;
                they override request and settings. Others are ignored.

        Raises:
            LLMError: The call failed, after the retries that the settings allow. A stream that is
                cut off is a `StreamError`: a partial answer never becomes a response, and is not
                retried once a part of it was shown, unless `retry_shown` says so.
        """
        async with await Call.begin(self, request, options) as call:
            while (encoded := call.next) is not None:
                try:
                    result = await self._retries.call(
                        lambda encoded=encoded: self._try_once(
                            call, encoded, self._receive_answer(call, encoded)
                        ),
                        encoded.model,
                        may_repeat=lambda: call.may_repeat,
                        before_retry=call.retract_answer,
                    )
                except LLMError as error:
                    await call.replace_failed(encoded, error)
                except NoRoomError:
                    if not call.has_answer:
                        raise
                    break
                else:
                    call.add(encoded, result)
            return await call.response()

    async def chunks(
        self, request: ChatRequest, **options: Any
    ) -> AsyncIterator[StreamChunk | ChatResponse]:
        """Yield text, thinking and calls as they arrive, at the end the whole `ChatResponse`.

        A block that the service takes back is one chunk that is `dropped`. Hooks hear no events of
        blocks, so that whoever iterates can tell them. The arguments and errors are those of
        `complete`; once a chunk was yielded nothing is retried.
        """
        async with await Call.begin(self, request, {**options, "retry_shown": False}) as call:
            while (encoded := call.next) is not None:
                answer: Answer | None = None
                place: Place | None = None
                try:
                    block_events = call.block_events(encoded)
                    answer, pieces, place = await self._retries.call(
                        lambda encoded=encoded: self._try_once(
                            call, encoded, self._first_pieces(encoded, call)
                        ),
                        encoded.model,
                        may_repeat=lambda: not call.is_shown,
                    )
                    while pieces is not None:
                        for event in pieces:
                            if (chunk := block_events.chunk(event)) is not None:
                                call.is_shown = True
                                yield chunk
                        pieces = await anext(answer, None)
                    result = answer.result()
                    for event in result.events:
                        if (chunk := block_events.chunk(event)) is not None:
                            yield chunk
                except LLMError as error:
                    if answer is not None:
                        call.drop_answer(encoded, answer.receive())
                    await call.replace_failed(encoded, error)
                except NoRoomError:
                    if not call.has_answer:
                        raise
                    break
                else:
                    call.add(encoded, result)
                finally:
                    if answer is not None and place is not None:
                        place.leave()
                        await answer.aclose()
            yield await call.response()

    async def list_models(self) -> list[ModelInfo]:
        """Return the models that the key may use.

        Raises:
            LLMError: The service cannot be reached or refuses the key.
        """
        try:
            entries = await self._retries.call(self._model_entries, None)
        except LLMError as error:
            note_hint(error)
            raise
        if self.settings.filtered:
            known = [entry for entry in entries if self._is_known(str(entry.get("id") or ""))]
            entries = known or entries
        return [self._model_info(entry) for entry in entries]

    def get_info(self) -> ProviderInfo:
        """Return what this provider can do and how it is configured."""
        raise NotImplementedError

    def get_model_info(self, model: str | None = None) -> ModelInfo:
        """Return what a model can do; that of the settings if None."""
        raise NotImplementedError

    def model_defaults(self, model: str | None, max_tokens: int | None) -> dict[str, Any]:
        """Return the `defaults` of `get_info`: the model of the settings, and its sizes."""
        known = self.get_model_info(model)
        return {
            "model": model,
            "max_tokens": max_tokens,
            "context_window": known.context_window,
            "max_output_tokens": known.max_output_tokens,
        }

    def request_budget(self, request: ChatRequest | None = None) -> int | None:
        """Return how many tokens the messages of a request may have; None if that is not known.

        Args:
            request: The request, whose model and `max_output_tokens` count; None for those of the
                settings.
        """
        window, output = limits_of(self.get_model_info(request.model if request else None))
        if window is None:
            return None
        asked = request.max_output_tokens if request else None
        return messages_budget(window, output, asked)

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        """Return the tool calls of `response` in the order the model made them.

        A call that cannot be run has an attribute `error` that says why, and no arguments.
        """
        return list(response.tool_calls or [])

    async def mount(self, coordinator: Any, name: str) -> Callable[[], Awaitable[None]]:
        """Mount the provider under a name, with its cost and the names of its events.

        Returns:
            The callable that closes its connections.
        """
        await coordinator.mount("providers", self, name=name)
        register = getattr(coordinator, "register_contributor", None)
        if register is not None:
            register(SESSION_COST, self.name, self.pricing.contribution)
            if self.own_events:
                register(OBSERVABILITY_EVENTS, self.name, lambda: list(self.own_events))
        return self.close

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        await self._client.close()

    # What a provider of its own defines.

    async def prepare(self, request: ChatRequest, options: Mapping[str, Any]) -> None:
        """Learn what the encoding of the request needs to know; most know it without asking."""
        del request, options

    def encode(self, request: ChatRequest, options: Mapping[str, Any]) -> WireRequest:
        """Return the request as it is sent."""
        raise NotImplementedError

    async def open_answer(self, encoded: WireRequest, longest_wait: float | None) -> Answer:
        """Send a request; return its answer once the server has begun it."""
        return await Answer.request(
            self._client,
            self.path,
            encoded.to_bytes(),
            self.settings,
            model=encoded.model,
            longest_wait=longest_wait,
            headers=encoded.headers,
        )

    def raw_block(self, block: JsonDict) -> JsonDict:
        """Return the wire's own form of a decoded block."""
        return block

    def shape_block(self, block: JsonDict) -> JsonDict:
        """Return a decoded block as responses have it."""
        return block

    def link_reasoning(
        self, blocks: list[tuple[JsonDict, JsonDict]]
    ) -> list[tuple[JsonDict, JsonDict]]:
        """Return the blocks of an answer, each with its wire's form, that know what they must."""
        return blocks

    def build_next_request(
        self, encoded: WireRequest, results: list[StreamResult], last: list[JsonDict]
    ) -> WireRequest | None:
        """Return the request that goes on with an answer that is not whole, None if it is.

        Args:
            encoded: The request of the last part of the answer.
            results: The parts of the answer.
            last: The blocks of the last part, in the wire's own form.
        """
        del encoded, results, last
        return None

    def repair_request(self, encoded: WireRequest, error: LLMError) -> WireRequest | None:
        """Return the request to send instead of one that failed, None to raise the error."""
        del encoded, error
        return None

    def answer_metadata(self, encoded: WireRequest, results: list[StreamResult]) -> dict[str, Any]:
        """Return what the provider wants to find again in the metadata of the message."""
        del encoded, results
        return {}

    def priced_as(self, asked: str, answered: str | None) -> tuple[str, ...]:
        """Return the names under which a model may have a price, the best known first."""
        return (asked,) if answered in (None, asked) else (answered, asked)

    async def _model_entries(self) -> list[dict[str, Any]]:
        """Return the entries of the service's list of models."""
        raise NotImplementedError

    def _is_known(self, model: str) -> bool:
        """Whether a model is one that is known to work here."""
        del model
        return True

    def _model_info(self, entry: Mapping[str, Any]) -> ModelInfo:
        """Return what an entry of the list of models says."""
        return self.get_model_info(str(entry.get("id") or ""))

    # One call.

    async def _try_once(self, call: Call, encoded: WireRequest, attempt: Awaitable[T]) -> T:
        """Await one attempt; where its model is overloaded, another one is asked at once."""
        try:
            return await attempt
        except LLMError as error:
            other = self.overload.substitute(encoded.model)
            if other is not None and is_overload(error) and call.may_repeat:
                error.retryable = False
                await self.overload.note(encoded.model)
                await call.fell_back(encoded.model, other, "overloaded")
            raise

    async def _open_answer(self, encoded: WireRequest, call: Call) -> Answer:
        if call.headers:
            encoded.headers = {**call.headers, **encoded.headers}
        await call.admit(encoded)
        try:
            return await self.open_answer(encoded, call.longest_wait)
        except LLMError as error:
            call.drop_attempt(error)
            if not isinstance(error, ChallengeError):
                raise
            data = {"provider": self.name, "model": encoded.model, "status_code": error.status_code}
            await self.emit(PROVIDER_CLOUDFLARE_CHALLENGE, data)
            raise

    async def _receive_answer(self, call: Call, encoded: WireRequest) -> StreamResult:
        block_events = call.block_events(encoded)
        place = await self._load.enter(encoded.model)
        try:
            answer = await self._open_answer(encoded, call)
            try:
                if call.has_listeners():
                    async for pieces in answer:
                        if pieces:
                            await call.show(pieces, block_events)
                    result = answer.result()
                    await call.show(result.events, block_events)
                else:
                    await answer.read()
                    result = answer.result()
            except BaseException:
                call.drop_answer(encoded, answer.receive())
                raise
            finally:
                await answer.aclose()
        finally:
            place.leave()
        return result

    async def _first_pieces(self, encoded: WireRequest, call: Call) -> tuple[Answer, Any, Place]:
        """Open an answer and read until it has an event, so that a failure before can be retried."""
        place = await self._load.enter(encoded.model)
        try:
            answer = await self._open_answer(encoded, call)
            try:
                pieces: Any = []
                while pieces == []:
                    pieces = await anext(answer, None)
                if pieces is None:
                    answer.result()
            except BaseException:
                call.drop_answer(encoded, answer.receive())
                await answer.aclose()
                raise
        except BaseException:
            place.leave()
            raise
        return answer, pieces, place

    async def emit(self, event: str, data: dict[str, Any]) -> None:
        """Tell the hooks, if there are any."""
        if self.hooks is not None:
            await self.hooks.emit(event, with_purpose(event, data))
