"""The most that a request of a provider may use, and the limit of its answer."""

from __future__ import annotations

from typing import Any, cast

from amplifier_core.message_models import ChatRequest

from .call_bound import CallBound
from .input_bound import InputCounts
from .pricing import Pricing

LIMIT_KEYS = ("max_tokens", "max_output_tokens", "max_completion_tokens")
"""Where a body says how long the answer may be; Ollama has `num_predict` among its `options`."""
_SEARCHES = 10
"""Searches of a service that are held back for where a request does not limit them."""
_MIN_THINKING_TOKENS = 1_024
"""The smallest budget of thinking that Anthropic takes."""


def answer_limit(body: dict[str, Any]) -> int | None:
    """Return the tokens that an answer may have; None if the body of its request does not say."""
    limits = (*map(body.get, LIMIT_KEYS), _read_object(body.get("options")).get("num_predict"))
    return next((limit for limit in limits if type(limit) is int and limit > 0), None)


def limit_answer(body: dict[str, Any], key: str, tokens: int) -> int | None:
    """Set the tokens that an answer may have; its thinking is part of it.

    Args:
        body: The body of its request.
        key: Where it says so, unless it has one of `LIMIT_KEYS` already: services refuse two of them.
        tokens: The tokens.

    Returns:
        The budget of thinking before, if it had to become smaller, or be left out as too few tokens
        are left for any.
    """
    if key == "num_predict":
        body["options"] = {**_read_object(body.get("options")), key: tokens}
    else:
        body[next((name for name in LIMIT_KEYS if name in body), key)] = tokens
    thinking = _read_object(body.get("thinking"))
    budget = thinking.get("budget_tokens")
    if type(budget) is not int or budget < tokens:
        return None
    if tokens > _MIN_THINKING_TOKENS:
        body["thinking"] = {**thinking, "budget_tokens": tokens - 1}
    else:
        del body["thinking"]
    return budget


def request_bound(
    body: dict[str, Any],
    model: str,
    request: ChatRequest,
    size: int,
    longest: int,
    counts: InputCounts,
    pricing: Pricing,
    models: tuple[str, ...],
    *,
    keeps_hour: bool,
) -> CallBound:
    """Return the most that a request may use.

    Args:
        body: The body of the request, without its conversation.
        model: The model that it names.
        request: The request, as it was asked for.
        size: Its bytes.
        longest: Tokens of the longest answer.
        counts: What the service counted of earlier requests.
        pricing: The prices of the provider.
        models: The names of the model, the best known first.
        keeps_hour: Whether it asks for a cache that lasts an hour.
    """
    tier, speed = body.get("service_tier"), body.get("speed")
    searches = sum(map(_count_searches, body.get("tools") or ()))
    named: dict[str, Any] = {
        "tier": tier if isinstance(tier, str) else None,
        "speed": speed if isinstance(speed, str) else None,
        "searches": searches,
        "keeps_hour": keeps_hour,
    }
    return CallBound(
        counts.most_tokens(request, model, size),
        longest,
        lambda read, written: pricing.most_cost(read, written, models, **named),
        named,
    )


def _count_searches(tool: dict[str, Any]) -> int:
    if not str(tool.get("type") or "").startswith("web_search"):
        return 0
    most = tool.get("max_uses")
    return most if type(most) is int and most >= 0 else _SEARCHES


def _read_object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
