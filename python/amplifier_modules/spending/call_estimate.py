"""What a model call will use, as far as that is known before it is made."""

from __future__ import annotations

import logging
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from pydantic import BaseModel

from amplifier_core.message_models import ChatRequest
from amplifier_providers.prices.amounts import NOTHING, Estimate, read_dollars
from amplifier_providers.prices.call_bound import CallBound
from amplifier_providers.prices.input_bound import most_input_tokens
from amplifier_providers.requests.token_estimate import CHARACTERS_PER_TOKEN, estimate_tokens

from .ledger import Ledger

logger = logging.getLogger(__name__)


def estimate_of(request: ChatRequest, provider: Any, ledger: Ledger) -> Estimate:
    """Return what is known of a call before it is made: its input, which the answer adds to.

    Args:
        request: What is sent.
        provider: Who is asked. What the input costs is known if it has an `input_cost`, which takes
            a number of tokens and returns US dollars, or None. Nothing is held back yet where it
            asks for each of its requests by itself (`asks_allowance`).
        ledger: The ledger of the turn; what it does not limit is not estimated.
    """
    if not (ledger.has_limit("tokens") or ledger.has_limit("cost")) or _asks_allowance(provider):
        return NOTHING
    messages = (message.model_dump(exclude_none=True) for message in request.messages)
    tokens = sum(map(estimate_tokens, messages))
    tools = (tool.model_dump_json(exclude_none=True) for tool in request.tools or ())
    tokens += sum(map(len, tools)) // CHARACTERS_PER_TOKEN
    cost = _estimate_cost(provider, "input_cost", tokens) if ledger.has_limit("cost") else None
    return Estimate(tokens, cost or Decimal(0))


def bound_of(request: ChatRequest, provider: Any, ledger: Ledger) -> CallBound | None:
    """Return the most that a call of a provider of others may use; None if that is not known.

    It is known if the request or the model limits the answer. What it costs is known if the provider
    has a `call_cost`, which takes the tokens of a request and of its answer and returns US dollars;
    without it, what an `input_cost` says of the request is held back.
    """
    if not (ledger.has_limit("tokens") or ledger.has_limit("cost")) or _asks_allowance(provider):
        return None
    longest = request.max_output_tokens or _longest_answer(provider)
    if longest is None:
        return None
    tokens = most_input_tokens(request, len(request.model_dump_json()))
    if callable(getattr(provider, "call_cost", None)):
        return CallBound(
            tokens,
            longest,
            lambda read, written: _estimate_cost(provider, "call_cost", read, written),
        )
    cost = _estimate_cost(provider, "input_cost", tokens) if ledger.has_limit("cost") else None
    return CallBound(tokens, longest, lambda read, written: cost)


def answer_tokens(response: Any) -> int:
    """Return the estimated tokens of an answer."""
    content: Any = getattr(response, "content", None)
    if isinstance(content, list):
        content = [_make_plain(block) for block in content]  # pyright: ignore[reportUnknownVariableType]
    calls = [_make_plain(call) for call in getattr(response, "tool_calls", None) or ()]
    return estimate_tokens({"content": content, "tool_calls": calls})


def _asks_allowance(provider: Any) -> bool:
    return getattr(provider, "asks_allowance", False) is True


def _longest_answer(provider: Any) -> int | None:
    get_model_info: Callable[[], Any] | None = getattr(provider, "get_model_info", None)
    info = get_model_info() if callable(get_model_info) else None
    longest = getattr(info, "max_output_tokens", None)
    return longest if type(longest) is int and longest > 0 else None


def _make_plain(value: Any) -> Any:
    return value.model_dump(exclude_none=True) if isinstance(value, BaseModel) else value


def _estimate_cost(provider: Any, method: str, *tokens: int) -> Decimal | None:
    price = getattr(provider, method, None)
    try:
        cost = price(*tokens) if callable(price) else None
    except Exception as error:  # noqa: BLE001 -- a provider of others; only an estimate is missing
        logger.warning("`%s` of the provider failed: %s", method, error)
        cost = None
    return read_dollars(cost) if isinstance(cost, Decimal) else None
