"""The beginnings of the requests of one call: what changed of them, and what a cache should serve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from amplifier_core import world
from amplifier_core.message_models import ChatRequest

from ..limits.endpoint import Endpoint
from ..prices.amounts import read_count, sum_counts
from ..running.call_purpose import CALL_PURPOSE, CALLING_SESSION
from .forecast import CacheRule, Forecast, rule_of
from .prompt import Prompt, PromptReader, SentPrompt
from .watch import Conversation, PrefixChange, prompts_of

_READ = ("input_tokens", "cache_read_tokens", "cache_write_tokens")


@dataclass(frozen=True, slots=True)
class ProviderPrompts:
    """What the calls of one provider share."""

    hooks: Any
    """Those of the session; None without."""
    endpoint: Endpoint
    rule: type[CacheRule] | None
    """How the service keeps prompts; None where nobody publishes it."""
    reader: PromptReader


class CallPrompt:
    """Follows the requests of a call."""

    def __init__(self, shared: ProviderPrompts, request: ChatRequest) -> None:
        """Follow none yet.

        Args:
            shared: What the calls of the provider share.
            request: What is asked.
        """
        self._shared = shared
        self._request = request
        self._prompts: tuple[SentPrompt, Prompt | None] | None = None
        self._conversation: Conversation | None = None
        self._change: PrefixChange | None = None
        self._forecast: Forecast | None = None
        self._predicted: int | None = 0
        self._paid_again: int | None = None

    def note(self, encoded: SentPrompt) -> PrefixChange | None:
        """Compare a request with the one before it; return how its beginning differs."""
        shared = self._shared
        tools: list[Any] = list(self._request.tools or ())
        prompt = shared.reader.read(encoded, tools)
        self._prompts = encoded, prompt
        if prompt is None:
            return None
        purpose = (CALL_PURPOSE.get() or {}).get("purpose")
        session = CALLING_SESSION.get()() or shared.hooks
        self._conversation = prompts_of(session).find(purpose)
        self._change = self._conversation.follow(prompt)
        return self._change

    def send(self, encoded: SentPrompt) -> None:
        """Predict what the cache serves of a request that is sent now."""
        self.close()
        known = self._prompts
        prompt = known[1] if known is not None and known[0] is encoded else None
        if prompt is None or self._shared.rule is None:
            return
        rule = rule_of(self._shared.endpoint, self._shared.rule)
        self._forecast = rule.send(prompt, world.time())

    def refuse(self) -> None:
        """Note that the service has refused the request."""
        if self._forecast is not None:
            self._forecast.drop()
            self._forecast = None

    def settle(self, usage: Mapping[str, int | None]) -> None:
        """Learn from what the service counted of a request."""
        counts = [read_count(usage.get(name)) for name in _READ]
        total = None if counts[0] is None else sum_counts(counts)
        forecast, self._forecast = self._forecast, None
        predicted: int | None = None
        if forecast is not None and (total is None or counts[1] is None):
            forecast.fail(world.time())
        elif forecast is not None and total is not None:
            predicted = forecast.tokens
            forecast.settle(counts[1] or 0, counts[2] or 0, total, world.time())
        both = self._predicted, predicted
        self._predicted = None if both[0] is None or both[1] is None else both[0] + both[1]
        conversation, change = self._conversation, self._change
        if conversation is None or total is None:
            return
        if self._prompts is not None and conversation.last is self._prompts[1]:
            conversation.tokens = total
        if change is not None and change.most_tokens is not None and counts[1] is not None:
            self._paid_again = max(min(change.most_tokens, total) - counts[1], 0)
        self._conversation = self._change = None

    def close(self) -> None:
        """Note that nobody knows what became of a request that is still open."""
        if self._forecast is not None:
            self._forecast.fail(world.time())
            self._forecast = None

    @property
    def predicted(self) -> int | None:
        """The tokens that the rule of the service says come from the cache; None if not known."""
        return self._predicted

    @property
    def paid_again(self) -> int | None:
        """The tokens of a changed request that the one before had, and that came from no cache."""
        return self._paid_again
