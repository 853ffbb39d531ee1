"""A provider over the Responses API."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from amplifier_core.events import CONTEXT_COMPACTION, CONTEXT_POST_COMPACT, CONTEXT_PRE_COMPACT
from amplifier_core.llm_errors import InvalidRequestError, LLMError, NotFoundError
from amplifier_core.message_models import ChatRequest
from amplifier_core.models import ModelInfo
from amplifier_core.session_capabilities import APPLY_PATCH_ENGINE

from ..requests.openai_models import ModelProfile, model_profile
from ..retries import Retries
from ..wire.answer import Answer
from ..wire.body import WireRequest
from ..wire.client import ServiceClient
from ..wire.fields import JsonDict, fields_of
from ..wire.provider import WireProvider
from ..wire.service import Service
from .background import BACKGROUND_STATUS, Background
from .chain import CHAIN, RESPONSE_ID
from .content import image_of
from .request import CHAIN_INVALIDATED, CONTINUATION, ResponsesEncoder, ResponsesRequest
from .settings import ResponsesSettings
from .turns import (
    LED_TO,
    PATCH,
    PATCH_CALL,
    REASONING_ITEMS,
    REASONING_LED_TO,
    link_reasoning,
    patch_call,
)

if TYPE_CHECKING:
    from amplifier_stream import StreamResult

EVENTS = (BACKGROUND_STATUS, CHAIN_INVALIDATED, CONTINUATION)
"""The events of these providers in addition to those of the kernel."""
_LOST = re.compile(r"previous.?response", re.IGNORECASE)
_COMPACTIONS = (CONTEXT_PRE_COMPACT, CONTEXT_POST_COMPACT, CONTEXT_COMPACTION)


class ResponsesProvider(WireProvider):
    """A provider for a service that speaks the Responses API."""

    path = "/responses"
    limit_key = "max_output_tokens"
    models_path = "/models"

    own_events = EVENTS

    def __init__(
        self,
        service: Service,
        settings: ResponsesSettings,
        client: ServiceClient,
        hooks: Any = None,
        *,
        retries: Retries | None = None,
        params: Mapping[str, str] | None = None,
    ) -> None:
        """Set the provider up; nothing is sent and no connection is made.

        Args:
            service: Who is called.
            settings: Its settings.
            client: How it is reached.
            hooks: The registry that gets its events; None for no events.
            retries: The retries of its calls; None for those of the settings.
            params: The query of every request.
        """
        super().__init__(service, settings, client, hooks, retries=retries)
        self.responses_settings = settings
        self.params = params
        self._encoder = ResponsesEncoder(
            service.name, settings, settings.default_model, self.profile_of
        )
        self._background = Background(client, settings, self.emit, params, retries=self._retries)
        self._capability: Callable[[str], object] = lambda _: None

    @override
    async def mount(self, coordinator: Any, name: str) -> Callable[[], Awaitable[None]]:
        """Mount the provider under a name; return what closes it.

        The request after a compaction sends everything: the service has what was left out.
        """
        close_connections = await super().mount(coordinator, name)
        self._capability = getattr(coordinator, "get_capability", self._capability)

        def reset(event: str, data: dict[str, Any]) -> None:
            del event, data
            self._encoder.chain.reset()

        hooks = getattr(coordinator, "hooks", None)
        is_chained = hooks is not None and self.responses_settings.is_chained
        followed = _COMPACTIONS if is_chained else ()
        handler = f"provider-{self.name}"
        removes = [hooks.on(event, reset, name=handler) for event in followed]  # pyright: ignore[reportOptionalMemberAccess] -- followed only where there are hooks

        async def close() -> None:
            for remove in removes:
                remove()
            await close_connections()

        return close

    def profile_of(self, model: str) -> ModelProfile:
        """Return what a model can do, as far as its name says it."""
        return model_profile(model)

    def get_model_info(self, model: str | None = None) -> ModelInfo:
        """Return what a model can do; that of the settings if None."""
        return self._model_info({"id": model or self.default_model})

    @override
    def use_settings(self, settings: Any) -> None:
        super().use_settings(settings)
        self.responses_settings = settings
        self._encoder.use_settings(settings)

    @override
    def encode(self, request: ChatRequest, options: Mapping[str, Any]) -> WireRequest:
        is_patched = any(tool.name == PATCH for tool in request.tools or ())
        is_native = is_patched and self._capability(APPLY_PATCH_ENGINE) == "native"
        native = [{"type": PATCH}] if is_native else []
        return self._encoder.encode(request, options, native)

    @override
    async def open_answer(self, encoded: WireRequest, longest_wait: float | None) -> Answer:
        if isinstance(encoded, ResponsesRequest):
            while encoded.notices:
                await self.emit(*encoded.notices.pop(0))
            if encoded.fields.get("background"):
                seconds = longest_wait or self.settings.timeout
                return await self._background.answer(self.path, encoded, seconds)
        return await Answer.request(
            self._client,
            self.path,
            encoded.to_bytes(),
            self.settings,
            model=encoded.model,
            longest_wait=longest_wait,
            headers=encoded.headers,
            params=self.params,
        )

    @override
    def raw_block(self, block: JsonDict) -> JsonDict:
        return fields_of(block.get("item")) or block

    @override
    def shape_block(self, block: JsonDict) -> JsonDict:
        if block.get("type") == "image_generation_call" and isinstance(block.get("result"), str):
            return image_of(block)
        if block.get("type") == PATCH_CALL:
            return patch_call(block)
        notes = [
            note
            for part in fields_of(block.get("item")).get("content") or ()
            for note in fields_of(part).get("annotations") or ()
        ]
        return {**block, "annotations": notes} if notes else block

    @override
    def link_reasoning(
        self, blocks: list[tuple[JsonDict, JsonDict]]
    ) -> list[tuple[JsonDict, JsonDict]]:
        shaped = link_reasoning([block for block, _ in blocks])
        return [(block, raw) for block, (_, raw) in zip(shaped, blocks, strict=True)]

    @override
    def build_next_request(
        self, encoded: WireRequest, results: list[StreamResult], last: list[JsonDict]
    ) -> WireRequest | None:
        most = self.responses_settings.max_continuations
        if not isinstance(encoded, ResponsesRequest) or len(results) > most:
            return None
        if results[-1].stop_reason != "max_tokens":
            return None
        return encoded.build_next_request(results[-1].blocks, len(results), most)

    @override
    def repair_request(self, encoded: WireRequest, error: LLMError) -> WireRequest | None:
        if not isinstance(encoded, ResponsesRequest) or encoded.previous is None:
            return None
        is_lost = isinstance(error, InvalidRequestError | NotFoundError) and (
            _LOST.search(str(error)) or encoded.previous in str(error)
        )
        if not is_lost:
            return None
        self._encoder.chain.drop(encoded.previous)
        return encoded.without_chain("the service does not have the response any more")

    @override
    def answer_metadata(self, encoded: WireRequest, results: list[StreamResult]) -> dict[str, Any]:
        last = results[-1]
        known: dict[str, Any] = {RESPONSE_ID: last.id, "openai:status": last.raw_stop_reason}
        reason = fields_of(last.metadata.get("incomplete_details")).get("reason")
        if reason:
            known["openai:incomplete_reason"] = reason
        thoughts = [
            block
            for result in results
            for block in link_reasoning([self.shape_block(block) for block in result.blocks])
            if block.get("type") == "thinking" and "item" in block
        ]
        if thoughts:
            known[REASONING_ITEMS] = [block["item"] for block in thoughts]
            known[REASONING_LED_TO] = [block.get(LED_TO) for block in thoughts]
        if isinstance(encoded, ResponsesRequest) and encoded.mark is not None:
            known[CHAIN] = encoded.mark
        return known

    async def _model_entries(self) -> list[dict[str, Any]]:
        expected, path = "a list of models", self.models_path
        answer = await self._client.ask(
            "GET", path, self.settings.timeout, expected, params=self.params
        )
        try:
            entries = [dict(entry) for entry in answer["data"]]
        except (ValueError, KeyError, TypeError) as error:
            raise self._client.unfitting(path, "other content", expected, None) from error
        if not self.settings.filtered:
            return entries
        known = [entry for entry in entries if model_profile(str(entry.get("id"))).is_known]
        return known or entries

    def _model_info(self, entry: Mapping[str, Any]) -> ModelInfo:
        model = str(entry.get("id") or "")
        profile = self.profile_of(model)
        window = profile.context_window
        if self.responses_settings.enable_long_context:
            window = profile.long_context_window or window
        capabilities = ["streaming", "tools"]
        capabilities += ["thinking"] if profile.reasons else []
        capabilities += ["vision"] if profile.has_vision else []
        capabilities += ["structured_output"] if profile.structured == "schema" else []
        return ModelInfo(
            id=model,
            display_name=str(entry.get("display_name") or model),
            context_window=window,
            max_output_tokens=profile.max_output_tokens,
            capabilities=capabilities,
        )
