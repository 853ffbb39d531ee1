"""Encoding of a `ChatRequest` as the body of `POST /responses`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from amplifier_core.message_models import ChatRequest

from ..requests.openai_models import ModelProfile, model_profile
from ..requests.requested_thinking import requested_thinking
from ..wire.body import TurnWriter, WireRequest, json_bytes
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
from .answer_format import add_format
from .chain import Chain, Link, chain_mark
from .effort import effort_for
from .settings import ResponsesSettings
from .tools import add_tools, included_results
from .turns import ResponsesRules, answer_items, turn_items

_MIN_OUTPUT_TOKENS = 16
_MAX_KEY_CHARS = 64
_ENCRYPTED = "reasoning.encrypted_content"
CHAIN_INVALIDATED = "provider:response_chain_invalidated"
CONTINUATION = "provider:incomplete_continuation"


@dataclass
class ResponsesRequest(WireRequest):
    """A request to the Responses API."""

    whole: list[bytes] = field(default_factory=list[bytes])
    """All turns, also where only the last is sent."""
    mark: JsonDict | None = None
    """What the metadata of the answer says about its request, if it is stored."""
    notices: list[tuple[str, JsonDict]] = field(default_factory=list[tuple[str, JsonDict]])
    """Events to be emitted when it is sent."""

    @property
    def previous(self) -> str | None:
        """The response that it goes on with."""
        return self.fields.get("previous_response_id")

    def without_chain(self, reason: str) -> ResponsesRequest:
        """Return the request with all turns instead of the response that it goes on with."""
        facts = [*self.notices, self._invalidation(self.previous, reason)]
        rest = {key: value for key, value in self.fields.items() if key != "previous_response_id"}
        turns = self.whole[: -len(self.turns)] + self.turns
        return replace(self, fields=rest, turns=turns, notices=facts)

    def note_invalidated(self, link: Link) -> None:
        """Tell that the request sends everything, though it could have gone on with a response."""
        self.notices.append(self._invalidation(link.lost, link.reason))

    def build_next_request(
        self, blocks: list[JsonDict], number: int, most: int
    ) -> ResponsesRequest | None:
        """Return the request that goes on with an answer that was cut, None if nothing can."""
        items = answer_items(blocks)
        if not items:
            return None
        about = {"provider": self.provider, "model": self.model}
        facts = {**about, "continuation": number, "max_continuations": most}
        turns = [*self.turns, json_bytes(items)[1:-1]]
        return replace(self, turns=turns, notices=[(CONTINUATION, facts)])

    def _invalidation(self, response_id: str | None, reason: str) -> tuple[str, JsonDict]:
        about = {"provider": self.provider, "model": self.model}
        return CHAIN_INVALIDATED, {**about, "response_id": response_id, "reason": reason}


class ResponsesEncoder:
    """Encodes the requests of one conversation after another; what was encoded is kept."""

    def __init__(
        self,
        provider: str,
        settings: ResponsesSettings,
        default_model: str | None,
        profile_of: Callable[[str], ModelProfile] = model_profile,
    ) -> None:
        """Encode for a provider with these settings; `profile_of` says what a model can do."""
        self._profile_of = profile_of
        self._provider = provider
        self._settings = settings
        self._default_model = default_model
        self._history = History()
        self._writer = TurnWriter(turn_items)
        self.chain = Chain()

    def use_settings(self, settings: ResponsesSettings) -> None:
        """Encode with other settings from now on."""
        self._settings = settings
        self._default_model = settings.default_model

    def encode(
        self,
        request: ChatRequest,
        options: Mapping[str, Any] | None = None,
        native: Sequence[JsonDict] = (),
    ) -> ResponsesRequest:
        """Encode `request`.

        Args:
            request: The conversation, the tools and the options of this call.
            options: Keywords of `complete`, which override both: `model`, `max_tokens`,
                `temperature`, `extended_thinking` and the others of `requested_thinking`,
                `previous_response_id`, and settings of one request such as `truncation`.
            native: Tools of the service beside those of the settings.

        Raises:
            InvalidRequestError: There is nothing to send, or an option has no meaning here.
        """
        given = given_options(options)
        settings = _overridden(self._settings, given)
        model = named_model(request, given, self._default_model, self._provider)
        profile = self._profile_of(model)
        rules = ResponsesRules.of(self._provider, model, sees=profile.has_vision)
        history = self._history.check(request.messages, rules)
        if not history.turns:
            raise nothing_to_send(self._provider, model)
        turns = self._writer.turns(history, self._provider, model)
        body: JsonDict = {"model": model}
        encoded = ResponsesRequest(
            self._provider, model, history, turns, "input", body, whole=turns
        )
        if system := "\n\n".join(block["text"] for block in history.system):
            body["instructions"] = system
        is_background = settings.background
        is_background = profile.is_slow if is_background is None else is_background
        body["store"] = settings.is_stored or is_background
        if settings.is_chained:
            encoded.mark = chain_mark(history, turns)
            self._go_on(encoded, request, given)
        tools = [*settings.tools, *native]
        add_tools(encoded, request, tools, settings.parallel_tool_calls)
        asked = encoded.thinking = requested_thinking(
            given, request.reasoning_effort, settings, provider=self._provider
        )
        length = asked_length(given, request, settings, self._provider)
        _add_length(encoded, settings, profile, length)
        temperature = asked_temperature(given, request, settings)
        is_free = temperature is None and request.top_p is None and asked.has_room(length)
        effort = effort_for(encoded, profile, is_free=is_free)
        _add_reasoning(encoded, settings, profile, effort, given.get("reasoning"))
        if profile.samples(effort):
            sampling = {"temperature": temperature, "top_p": request.top_p}
            body.update((key, value) for key, value in sampling.items() if value is not None)
        else:
            reason = f"`{model}` does not accept it while it reasons"
            note_unsent_sampling(encoded, temperature, request.top_p, reason)
        add_format(encoded, request, profile)
        _add_service_options(body, settings, profile, request)
        if request.stop:
            encoded.degrade("stop texts", "none", "this API has none")
        if is_background:
            body["background"] = True
        body["stream"] = settings.use_streaming and not is_background
        return encoded

    def _go_on(
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


def _overridden(settings: ResponsesSettings, given: Mapping[str, Any]) -> ResponsesSettings:
    """Return the settings with those that a call sets for itself."""
    names = {
        "truncation", "prompt_cache_key", "prompt_cache_retention", "safety_identifier",
        "parallel_tool_calls", "background", "reasoning_summary",
    }  # fmt: skip
    changed = {key: value for key, value in given.items() if key in names}
    return settings.model_copy(update=changed) if changed else settings


def _add_length(
    encoded: ResponsesRequest, settings: ResponsesSettings, profile: ModelProfile, asked: int | None
) -> None:
    """Limit the answer; `asked` is the limit if the caller or a setting names it."""
    longest = profile.max_output_tokens if profile.is_known else None
    wanted = asked or settings.max_tokens
    most = max(wanted if longest is None else min(wanted, longest), _MIN_OUTPUT_TOKENS)
    if asked is not None and most != asked:
        reason = f"`{encoded.model}` writes no more" if most < asked else "the API takes no less"
        encoded.degrade(f"{asked:,} tokens", f"{most:,} tokens", reason)
    encoded.fields["max_output_tokens"] = most


def _add_reasoning(
    encoded: ResponsesRequest,
    settings: ResponsesSettings,
    profile: ModelProfile,
    effort: str | None,
    given: Any,
) -> None:
    """Add how much the model thinks, and how much of it is shown."""
    included = included_results(encoded.fields.get("tools", ()))
    if effort or profile.reasons:
        facts: JsonDict = {"effort": effort} if effort else {}
        if effort != "none":
            summary = fields_of(given).get("summary") or settings.reasoning_summary
            if summary != "none" and not encoded.thinking.is_off:
                facts["summary"] = summary
            included.append(_ENCRYPTED)
        if facts:
            encoded.fields["reasoning"] = facts
    if included:
        encoded.fields["include"] = included


def _add_service_options(
    body: JsonDict, settings: ResponsesSettings, profile: ModelProfile, request: ChatRequest
) -> None:
    if settings.truncation:
        body["truncation"] = settings.truncation
    if key := settings.prompt_cache_key or request.conversation_id:
        body["prompt_cache_key"] = _short(key)
    if profile.keeps_cache and settings.prompt_cache_retention:
        body["prompt_cache_retention"] = settings.prompt_cache_retention
    if settings.safety_identifier:
        body["safety_identifier"] = _short(settings.safety_identifier)


def _short(text: str) -> str:
    """Return a text as long as the API takes it: one that is longer becomes its digest."""
    return text if len(text) <= _MAX_KEY_CHARS else sha256(text.encode()).hexdigest()
