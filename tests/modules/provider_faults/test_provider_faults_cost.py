"""What a call of each service costs, also where it was continued, or was asked for again."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from services import REQUEST, Hooks, Service, provider_of

from amplifier_core.llm_errors import LLMError
from amplifier_core.message_models import ChatResponse
from amplifier_testing.servers import Answer, Fault, Usage

PRICES: dict[str, Any] = {
    "*": {"input": 1_000, "cache_read": 100, "cache_write": 2_000, "output": 10_000}
}
USED = Usage(input=1_000, output=100, cache_read=5_000, reasoning=10)
TALE = Answer("Once upon a time. " * 4, usage=USED, fragment=4)


def cost(service: Service) -> Decimal:
    """What the service counts of it: what was read, what the cache had, what was written."""
    prices = PRICES["*"]
    cached = USED.cache_read * prices["cache_read"] if service.counts_cached else 0
    written = (USED.output + USED.reasoning) * prices["output"]
    return Decimal(USED.input * prices["input"] + cached + written) / 1_000_000


async def test_a_response_and_its_event_say_what_the_call_cost(service: Service) -> None:
    hooks = Hooks()
    with service.server([Answer("Hello", usage=USED)]) as server:
        async with provider_of(service, server.url, hooks, prices=PRICES) as provider:
            assert provider.reports_cost
            response = await provider.complete(REQUEST)
            assert provider.pricing.describe_cost() == {
                "provider": service.name,
                "cost_usd": str(cost(service)),
                "model_calls": 1,
                "unpriced_calls": 0,
            }
    assert response.usage is not None
    assert response.usage.cost_usd == cost(service)
    [answered] = hooks.data("llm:response")
    assert answered["usage"]["cost_usd"] == str(cost(service))


async def test_pieces_of_an_answer_cost_the_same(service: Service) -> None:
    with service.server([TALE]) as server:
        async with provider_of(service, server.url, prices=PRICES) as provider:
            *_, response = [piece async for piece in provider.chunks(REQUEST)]
    assert isinstance(response, ChatResponse)
    assert response.usage is not None
    assert response.usage.cost_usd == cost(service)


async def test_an_answer_that_broke_off_is_paid_for_as_far_as_the_service_counted_it(
    service: Service,
) -> None:
    hooks = Hooks()
    with service.server([TALE], faults=[Fault(error_after=3)]) as server:
        async with provider_of(service, server.url, hooks, prices=PRICES) as provider:
            with pytest.raises(LLMError):
                await provider.complete(REQUEST)
            [answered] = hooks.data("llm:response")
            counted = answered.get("usage", {}).get("cost_usd", "0")
            assert Decimal(counted) == provider.pricing.total
            # Anthropic counts what it has read at the beginning, the others all at the end.
            assert (provider.pricing.total > 0) == (service.name == "anthropic")


async def test_an_answer_that_was_asked_for_again_costs_what_both_did(service: Service) -> None:
    lost = Fault(error_after=3)
    with service.server([TALE, TALE], faults=[lost]) as server:
        async with provider_of(service, server.url, max_retries=1, prices=PRICES) as provider:
            response = await provider.complete(REQUEST)
        assert len(server.requests) == 2
    assert response.usage is not None
    paid = response.usage.cost_usd
    assert paid == provider.pricing.total
    assert paid is not None
    # What Anthropic counted at the beginning of the first one comes to it.
    more = paid - cost(service)
    assert more > Decimal("1.5") if service.name == "anthropic" else more == 0


async def test_an_unknown_model_is_told_once_and_has_no_cost(service: Service) -> None:
    hooks = Hooks()
    known = service.name in ("anthropic", "openai")
    with service.server([Answer("One"), Answer("Two")]) as server:
        settings = {"prices": {"another": {"input": 1, "output": 1}}}
        async with provider_of(service, server.url, hooks, **settings) as provider:
            responses = [await provider.complete(REQUEST) for _ in range(2)]
            is_known = provider.reports_cost
            assert provider.unpriced_model == (None if is_known else service.model)
    assert is_known or not known
    for response in responses:
        assert response.usage is not None
        assert (response.usage.cost_usd is not None) == is_known
    assert len(hooks.data("user:notification")) == (0 if is_known else 1)
