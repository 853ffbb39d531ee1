"""What a model call will use at least, as far as that is known before it is made."""

from __future__ import annotations

import logging
from decimal import Decimal
from typing import Any

from amplifier_core.message_models import ChatRequest

from ..contexts.budget import CHARACTERS_PER_TOKEN, estimate_tokens
from .ledger import Ledger
from .reservation import Estimate

logger = logging.getLogger(__name__)


def estimate_of(request: ChatRequest, provider: Any, ledger: Ledger) -> Estimate:
    """Return what is known of a call before it is made: its input, which the answer adds to.

    Args:
        request: What is sent.
        provider: Who is asked. What the input costs is known if it has an `input_cost`, which takes
            a number of tokens and returns US dollars, or None.
        ledger: The ledger of the turn; what it does not limit is not estimated.
    """
    if not (ledger.limits("tokens") or ledger.limits("cost")):
        return Estimate()
    messages = (message.model_dump(exclude_none=True) for message in request.messages)
    tokens = sum(map(estimate_tokens, messages))
    tools = (tool.model_dump_json(exclude_none=True) for tool in request.tools or ())
    tokens += sum(map(len, tools)) // CHARACTERS_PER_TOKEN
    return Estimate(tokens, _cost(provider, tokens) if ledger.limits("cost") else Decimal(0))


def _cost(provider: Any, tokens: int) -> Decimal:
    input_cost = getattr(provider, "input_cost", None)
    try:
        cost = input_cost(tokens) if callable(input_cost) else None
    except Exception as error:  # noqa: BLE001 -- a provider of others; only an estimate is missing
        logger.warning("`input_cost` of the provider failed: %s", error)
        cost = None
    return cost if isinstance(cost, Decimal) and cost.is_finite() and cost > 0 else Decimal(0)
