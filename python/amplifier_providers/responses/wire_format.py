"""The format of the Responses API: the body of `POST /responses`, and the items of its answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from amplifier_core.llm_errors import InvalidRequestError, LLMError, NotFoundError
from amplifier_core.message_models import ChatRequest
from amplifier_core.session_capabilities import APPLY_PATCH_ENGINE

from ..prompt.automatic_cache import AutomaticCache
from ..requests.openai_models import ModelProfile, model_profile
from ..requests.requested_thinking import requested_thinking
from ..wire.body import TurnWriter, WireRequest
from ..wire.fields import JsonDict, fields_of
from ..wire.history import History
from ..wire.options import (
    asked_length,
    asked_temperature,
    given_options,
    named_model,
    note_unsent_sampling,
    nothing_to_send,
)
from ..wire.wire_format import WireFormat
from .answer_format import add_format
from .chain import CHAIN, RESPONSE_ID, Chain, Link, chain_mark
from .content import image_of
from .effort import add_reasoning, effort_for
from .request import ResponsesRequest, add_length, add_service_options, override_settings
from .search import SEARCH_CALL, find_finder, read_search
from .settings import ResponsesSettings
from .tools import add_tools
from .turns import (
    LED_TO,
    PATCH,
    PATCH_CALL,
    REASONING_ITEMS,
    REASONING_LED_TO,
    ResponsesRules,
    link_reasoning,
    patch_call,
    turn_items,
)

if TYPE_CHECKING:
    from amplifier_stream import StreamResult

_LOST = re.compile(r"previous.?response", re.IGNORECASE)


class ResponsesFormat(WireFormat):
    """Writes and reads one conversation after another; what was encoded is kept."""

    path = "/responses"
    limit_key = "max_output_tokens"
    cache_rule = AutomaticCache

    def __init__(
        self,
        provider: str,
        settings: ResponsesSettings,
        params: Mapping[str, str] | None = None,
    ) -> None:
        """Encode for a provider.

        Args:
            provider: Its name.
            settings: Its settings.
            params: The query of every request.
        """
        super().__init__()
        self.params = params
        self.find_capability: Callable[[str], object] = lambda _: None
        """Returns a capability of the session, None if it has none."""
        self._provider = provider
        self._settings = settings
        self._history = History()
        self._finder: str | None = None
        """The tool that the service searches with; None where it does not."""
        self._writer = TurnWriter(turn_items)
        self.chain = Chain()

    @override
    def use_settings(self, settings: ResponsesSettings) -> None:
        self._settings = settings

    def profile_of(self, model: str) -> ModelProfile:
        """Return what a model can do, as far as its name says it."""
        return model_profile(model)

    @override
    def encode(
        self, request: ChatRequest, options: Mapping[str, Any] | None = None
    ) -> ResponsesRequest:
        """Encode `request`.

        Args:
            request: The conversation, the tools and the options of this call.
            options: Keywords of `complete`, which override both: `model`, `max_tokens`,
                `temperature`, `extended_thinking` and the others of `requested_thinking`,
                `previous_response_id`, and settings of one request such as `truncation`.

        Raises:
            InvalidRequestError: There is nothing to send, or an option has no meaning here.
        """
        given = given_options(options)
        settings = override_settings(self._settings, given)
        model = named_model(request, given, settings.default_model, self._provider)
        profile = self.profile_of(model)
        rules = ResponsesRules.of(self._provider, model, sees=profile.has_vision)
        history = self._history.check(request.messages, rules)
        if not history.turns:
            raise nothing_to_send(self._provider, model)
        if (finder := find_finder(request)) != self._finder:
            self._finder, self._writer = finder, TurnWriter(partial(turn_items, finder=finder))
        turns = self._writer.write_turns(history, self._provider, model)
        body: JsonDict = {"model": model}
        encoded = ResponsesRequest(
            self._provider, model, history, turns, "input", body, whole=turns
        )
        encoded.blocks = self._writer.blocks
        if system := "\n\n".join(block["text"] for block in history.system):
            body["instructions"] = system
        is_background = settings.background
        is_background = profile.is_slow if is_background is None else is_background
        body["store"] = settings.is_stored or is_background
        if settings.is_chained:
            encoded.mark = chain_mark(history, turns)
            self._continue_chain(encoded, request, given)
        tools = [*settings.tools, *self._native_tools(request)]
        add_tools(encoded, request, tools, settings.parallel_tool_calls)
        asked = encoded.thinking = requested_thinking(
            given, request.reasoning_effort, settings, provider=self._provider
        )
        length = asked_length(given, request, settings, self._provider)
        add_length(encoded, settings, profile, length)
        temperature = asked_temperature(given, request, settings)
        is_free = temperature is None and request.top_p is None and asked.has_room(length)
        effort = effort_for(encoded, profile, is_free=is_free)
        add_reasoning(encoded, settings, profile, effort, given.get("reasoning"))
        if profile.can_sample(effort):
            sampling = {"temperature": temperature, "top_p": request.top_p}
            body.update((key, value) for key, value in sampling.items() if value is not None)
        else:
            reason = f"`{model}` does not accept it while it reasons"
            note_unsent_sampling(encoded, temperature, request.top_p, reason)
        add_format(encoded, request, profile)
        add_service_options(body, settings, profile, request)
        if request.stop:
            encoded.degrade("stop texts", "none", "this API has none")
        if is_background:
            body["background"] = True
        body["stream"] = settings.use_streaming and not is_background
        return encoded

    @override
    def raw_block(self, block: JsonDict) -> JsonDict:
        return fields_of(block.get("item")) or block

    @override
    def shape_block(self, block: JsonDict) -> JsonDict:
        if block.get("type") == "image_generation_call" and isinstance(block.get("result"), str):
            return image_of(block)
        if block.get("type") == PATCH_CALL:
            return patch_call(block)
        if block.get("type") == SEARCH_CALL and self._finder is not None:
            return read_search(block, self._finder)
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
        most = self._settings.max_continuations
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
        self.chain.drop(encoded.previous)
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

    def _native_tools(self, request: ChatRequest) -> list[JsonDict]:
        """Return the tools that the service runs its own way, and the session lets it."""
        has_patch = any(tool.name == PATCH for tool in request.tools or ())
        is_native = has_patch and self.find_capability(APPLY_PATCH_ENGINE) == "native"
        return [{"type": PATCH}] if is_native else []

    def _continue_chain(
        self, encoded: ResponsesRequest, request: ChatRequest, given: Mapping[str, Any]
    ) -> None:
        link = self.chain.link(self._provider, request.messages, encoded.history, encoded.whole)
        if given.get("previous_response_id"):
            link = Link(previous=given["previous_response_id"])
        if link.previous is not None:
            encoded.fields["previous_response_id"] = link.previous
            encoded.turns = encoded.whole[-1:]
        elif link.lost is not None:
            encoded.note_invalidated(link)
