"""Requests that are too long for their model: the budget learned from a refusal, and the error."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from amplifier_core.llm_errors import ContextLengthError
from amplifier_core.message_models import ChatRequest
from amplifier_core.message_models import Message as RequestMessage
from amplifier_providers.requests.token_estimate import CHARACTERS_PER_TOKEN, estimate_tokens

Message = dict[str, Any]

logger = logging.getLogger(__name__)

_SHARE_OF_REFUSED = 0.75
"""Share of the tokens of a refused request that later ones may have."""
_SHARES = (0.75, 0.5, 0.25, 0.0)
"""Shares of the tokens of a refused request that the next try may have, by the refusals before it.

The last one asks for the shortest request that there is.
"""


_NOTHING: Mapping[tuple[Any, ...], int] = MappingProxyType({})


class LearnedBudgets:
    """Asks a context for the messages of a request, and for fewer after a refusal.

    Estimates of tokens are inexact, and a provider may not know the window of its model. So the
    budget learned from a refusal holds for all later requests to the same model. Any context can do
    this: the budget is the `token_budget` of `get_messages_for_request`.
    """

    kind: ClassVar[str] = "state:request_budgets"
    """The kind of the rows in which a session that is stored keeps them."""

    __slots__ = ("_budgets",)

    def __init__(self) -> None:
        """Know nothing yet."""
        self._budgets: Mapping[tuple[Any, ...], int] = _NOTHING

    @property
    def is_anything_known(self) -> bool:
        """Whether anything was learned, of any model."""
        return bool(self._budgets)

    async def get_messages(
        self, context: Any, provider: Any, *model: Any, stated: int | None = None
    ) -> list[Message]:
        """Return the messages of a request.

        Args:
            context: The context that has them.
            provider: The provider that will get them.
            *model: What identifies the model.
            stated: What the provider says of this model; None if contexts ask it themselves.
        """
        budget = self._budgets.get(model, stated)
        if budget is None:
            return await context.get_messages_for_request(provider=provider)
        return await context.get_messages_for_request(token_budget=budget, provider=provider)

    async def fewer_messages(
        self, refused: list[Message], refusals: int, context: Any, provider: Any, *model: Any
    ) -> list[Message] | None:
        """Return shorter messages than those that were refused; None if the context has none.

        Args:
            refused: The messages that were too long.
            refusals: How many requests were refused before these, one after the other.
            context: The context that has them.
            provider: The provider that will get the request.
            *model: What identifies the model.
        """
        tokens = sum(map(estimate_tokens, refused))
        before = self._budgets.get(model)
        try:
            for share in _SHARES[refusals:]:
                self._learn(model, max(1, int(tokens * share)))
                shorter = await self.get_messages(context, provider, *model)
                if sum(map(estimate_tokens, shorter)) < tokens:
                    # What is shorter than needed now must not stay so.
                    self._learn(model, max(1, int(tokens * _SHARE_OF_REFUSED)))
                    return shorter
        except Exception:
            # The refusal is what the caller has to know, and is raised.
            logger.warning("the context cannot shorten the conversation", exc_info=True)
        if before is None:
            self._budgets = {key: kept for key, kept in self._budgets.items() if key != model}
        else:
            self._learn(model, before)
        return None

    def describe(self) -> list[Any] | None:
        """Return as JSON what was learned; None for nothing."""
        return [[list(model), budget] for model, budget in self._budgets.items()] or None

    def restore(self, body: list[Any]) -> None:
        """Learn what was learned in another process."""
        self._budgets = {tuple(model): budget for model, budget in body} | dict(self._budgets)

    def _learn(self, model: tuple[Any, ...], budget: int) -> None:
        self._budgets = {**self._budgets, model: budget}


_NAMES = {
    "system": "the system prompt",
    "developer": "the system prompt",
    "user": "a message of the user",
    "assistant": "an answer of the model",
    "tool": "the result of a tool",
    "function": "the result of a tool",
}


def cannot_be_shorter(request: ChatRequest, refusal: ContextLengthError) -> ContextLengthError:
    """Return the error, which names the longest part of the request.

    Args:
        request: The shortest request that was refused.
        refusal: What the provider raised.
    """
    tools = sum(len(tool.model_dump_json()) for tool in request.tools or ())
    parts = [(_name_message(message), _count_tokens(message)) for message in request.messages]
    parts.append(("the descriptions of the tools", tools // CHARACTERS_PER_TOKEN))
    name, longest = max(parts, key=lambda part: part[1])
    total = sum(tokens for _, tokens in parts)
    message = (
        f"the request is too long for the model and cannot be made shorter: about {total:,} tokens,"
        f" {longest:,} of them in {name}; the provider said: {refusal}"
    )
    return ContextLengthError(
        message,
        provider=refusal.provider,
        model=refusal.model,
        status_code=refusal.status_code,
        hint=f"shorten {name}, or use a model with a larger context window",
    )


def _count_tokens(message: RequestMessage) -> int:
    return estimate_tokens(message.model_dump(mode="python"))


def _name_message(message: RequestMessage) -> str:
    tool = f" `{message.name}`" if message.role == "tool" and message.name else ""
    return _NAMES.get(message.role, f"a message of `{message.role}`") + tool
