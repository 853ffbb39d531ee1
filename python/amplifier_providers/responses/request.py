"""A request to the Responses API, and the fields of its body that settings and limits decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from amplifier_core.message_models import ChatRequest

from ..requests.openai_models import ModelProfile
from ..wire.body import WireRequest, json_bytes
from ..wire.fields import JsonDict
from .chain import Link
from .settings import ResponsesSettings
from .turns import answer_items

_MIN_OUTPUT_TOKENS = 16
_MAX_KEY_CHARS = 64
CHAIN_INVALIDATED = "provider:response_chain_invalidated"
CONTINUATION = "provider:incomplete_continuation"


@dataclass
class ResponsesRequest(WireRequest):
    """A request to the Responses API."""

    whole: list[bytes] = field(default_factory=list[bytes])
    """All turns, also where only the last is sent."""
    mark: JsonDict | None = None
    """What the metadata of the answer says about its request, if it is stored."""

    @property
    def previous(self) -> str | None:
        """The response that it continues from."""
        return self.fields.get("previous_response_id")

    def without_chain(self, reason: str) -> ResponsesRequest:
        """Return the request with all turns instead of the response that it continues from."""
        facts = [*self.notices, self._describe_invalidation(self.previous, reason)]
        rest = {key: value for key, value in self.fields.items() if key != "previous_response_id"}
        turns = self.whole[: -len(self.turns)] + self.turns
        return replace(self, fields=rest, turns=turns, notices=facts)

    def note_invalidated(self, link: Link) -> None:
        """Say that the request sends everything, though it could have continued from a response."""
        self.notices.append(self._describe_invalidation(link.lost, link.reason))

    def build_next_request(
        self, blocks: list[JsonDict], number: int, most: int
    ) -> ResponsesRequest | None:
        """Return the request that continues an answer that was cut, None if nothing can."""
        items = answer_items(blocks)
        if not items:
            return None
        about = {"provider": self.provider, "model": self.model}
        facts = {**about, "continuation": number, "max_continuations": most}
        turns = [*self.turns, json_bytes(items)[1:-1]]
        return replace(self, turns=turns, blocks=None, notices=[(CONTINUATION, facts)])

    def _describe_invalidation(self, response_id: str | None, reason: str) -> tuple[str, JsonDict]:
        about = {"provider": self.provider, "model": self.model}
        return CHAIN_INVALIDATED, {**about, "response_id": response_id, "reason": reason}


def override_settings(settings: ResponsesSettings, given: Mapping[str, Any]) -> ResponsesSettings:
    """Return the settings with those that a call sets for itself."""
    names = {
        "truncation", "prompt_cache_key", "prompt_cache_retention", "safety_identifier",
        "parallel_tool_calls", "background", "reasoning_summary",
    }  # fmt: skip
    changed = {key: value for key, value in given.items() if key in names}
    return settings.model_copy(update=changed) if changed else settings


def add_length(
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


def add_service_options(
    body: JsonDict, settings: ResponsesSettings, profile: ModelProfile, request: ChatRequest
) -> None:
    """Add what settings say about caching, truncation and the end user."""
    if settings.truncation:
        body["truncation"] = settings.truncation
    if key := settings.prompt_cache_key or request.conversation_id:
        body["prompt_cache_key"] = _shorten_key(key)
    if profile.keeps_cache and settings.prompt_cache_retention:
        body["prompt_cache_retention"] = settings.prompt_cache_retention
    if settings.safety_identifier:
        body["safety_identifier"] = _shorten_key(settings.safety_identifier)


def _shorten_key(text: str) -> str:
    """Return a text as long as the API takes it: one that is longer becomes its digest."""
    return text if len(text) <= _MAX_KEY_CHARS else sha256(text.encode()).hexdigest()
