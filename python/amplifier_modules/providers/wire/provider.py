"""A provider over HTTP: what all of them do the same way around their wire."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Mapping
from threading import Lock
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from amplifier_core.llm_errors import LLMError
from amplifier_core.message_models import ChatRequest, ChatResponse, ToolCall
from amplifier_core.models import ModelInfo, ProviderInfo

from ...model_window import limits_of, messages_budget
from ..retries import Retries
from .answer import Answer
from .body import WireRequest
from .call import Call, note_hint
from .client import ServiceClient
from .errors import ChallengeError
from .events import PROVIDER_CLOUDFLARE_CHALLENGE
from .fields import JsonDict
from .load import Load
from .repair_report import RepairReport
from .service import Service
from .settings import HttpSettings

if TYPE_CHECKING:
    from amplifier_stream import StreamResult

logger = logging.getLogger(__name__)


def new_call_id() -> str:
    """Return an id for a call that the service gave none."""
    return f"call_{uuid4().hex[:24]}"


class WireProvider:
    """A provider for one service.

    The blocks of an answer are emitted as `content_block:*` events as they arrive; responses have
    `content_blocks_emitted` in their metadata where hooks heard them. Every failure is one of
    `llm_errors`. A provider of its own says how a request is encoded and what the models can do.
    """

    path: str
    """Where requests go, after the base URL."""

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
        self.reasoning = settings.reasoning or settings.reasoning_effort
        self._client = client
        self.hooks = hooks
        self._retries = retries or Retries(service.name, settings, hooks)
        self.new_id = new_id
        self._load = Load(service.name, settings, self.emit)
        client.on_headers = self._load.note
        self.encoding = Lock()
        """Held while a request is encoded: sessions of several threads may share a provider."""
        self.repairs = RepairReport(service.name, self.emit)

    def __repr__(self) -> str:
        """Show the base URL, never the key."""
        return f"{type(self).__name__}(base_url={self._client.shown_url!r})"

    async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
        """Send `request` and return the whole answer.

        Args:
            request: The conversation and the tools.
            **options: `model`, `max_tokens`, `temperature`, `reasoning` or `reasoning_effort`,
                `extended_thinking` and what the provider's encoder takes besides; they override
                request and settings. Others are ignored.

        Raises:
            LLMError: The call failed, after the retries that the settings allow. A stream that is
                cut off is a `StreamError`: a partial answer never becomes a response, and is not
                retried once a part of it was shown.
        """
        call = await Call.begin(self, request, options)
        while (encoded := call.next) is not None:
            try:
                result = await self._retries.call(
                    lambda encoded=encoded: self._received(call, encoded),
                    encoded.model,
                    may_repeat=lambda: not call.is_shown,
                )
            except LLMError as error:
                await call.failed(encoded, error)
            else:
                call.add(encoded, result)
        return await call.response()

    async def chunks(
        self, request: ChatRequest, **options: Any
    ) -> AsyncIterator[str | ChatResponse]:
        """Yield the text of the answer as it arrives, at the end the whole `ChatResponse`.

        Hooks hear no events of blocks, so that whoever iterates can tell them. The arguments and
        errors are those of `complete`; once a text was yielded nothing is retried.
        """
        call = await Call.begin(self, request, options)
        while (encoded := call.next) is not None:
            answer: Answer | None = None
            try:
                block_events = call.block_events(encoded)
                answer, pieces = await self._retries.call(
                    lambda encoded=encoded: self._first_pieces(encoded, call),
                    encoded.model,
                    may_repeat=lambda: not call.is_shown,
                )
                while pieces is not None:
                    for event in pieces:
                        _, data = block_events.completed(event)
                        if data.get("delta") and data["block_type"] == "text":
                            call.is_shown = True
                            yield data["delta"]
                    pieces = await anext(answer, None)
                result = answer.result()
                for event in result.events:
                    _, data = block_events.completed(event)
                    if data.get("delta") and data["block_type"] == "text":
                        yield data["delta"]
            except LLMError as error:
                await call.failed(encoded, error)
            else:
                call.add(encoded, result)
            finally:
                if answer is not None:
                    self._load.leave()
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

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        await self._client.close()

    # What a provider of its own defines.

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

    def shaped(self, block: JsonDict) -> JsonDict:
        """Return a decoded block as responses have it."""
        return block

    def linked(self, blocks: list[tuple[JsonDict, JsonDict]]) -> list[tuple[JsonDict, JsonDict]]:
        """Return the blocks of an answer, each with its wire's form, that know what they must."""
        return blocks

    def continued(self, encoded: WireRequest, results: list[StreamResult]) -> WireRequest | None:
        """Return the request that goes on with an answer that is not whole, None if it is."""
        del encoded, results
        return None

    def mended(self, encoded: WireRequest, error: LLMError) -> WireRequest | None:
        """Return the request to send instead of one that failed, None to raise the error."""
        del encoded, error
        return None

    def answer_metadata(self, encoded: WireRequest, results: list[StreamResult]) -> dict[str, Any]:
        """Return what the provider wants to find again in the metadata of the message."""
        del encoded, results
        return {}

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

    async def _opened(self, encoded: WireRequest, call: Call) -> Answer:
        try:
            return await self.open_answer(encoded, call.longest_wait)
        except ChallengeError as error:
            data = {"provider": self.name, "model": encoded.model, "status_code": error.status_code}
            await self.emit(PROVIDER_CLOUDFLARE_CHALLENGE, data)
            raise

    async def _received(self, call: Call, encoded: WireRequest) -> StreamResult:
        block_events = call.block_events(encoded)
        await self._load.enter(encoded.model)
        try:
            answer = await self._opened(encoded, call)
            try:
                async for pieces in answer:
                    if pieces:
                        await call.show(pieces, block_events)
                result = answer.result()
                await call.show(result.events, block_events)
            finally:
                await answer.aclose()
        finally:
            self._load.leave()
        return result

    async def _first_pieces(self, encoded: WireRequest, call: Call) -> tuple[Answer, Any]:
        """Open an answer and read until it has an event, so that a failure before can be retried."""
        await self._load.enter(encoded.model)
        try:
            answer = await self._opened(encoded, call)
            try:
                pieces: Any = []
                while pieces == []:
                    pieces = await anext(answer, None)
                if pieces is None:
                    answer.result()
            except BaseException:
                await answer.aclose()
                raise
        except BaseException:
            self._load.leave()
            raise
        return answer, pieces

    async def emit(self, event: str, data: dict[str, Any]) -> None:
        """Tell the hooks, if there are any."""
        if self.hooks is not None:
            await self.hooks.emit(event, data)
