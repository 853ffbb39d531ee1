"""`/cost` shows what the caches of services made of the beginnings of requests.

Holds: prefix-9
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from amplifier_agent import Agent, Result
from amplifier_agent.prompt_cache import PromptCacheUse
from amplifier_app.usage import TurnSums
from amplifier_testing.servers import Answer, AnthropicServer, Usage

RESULT: Result[None] = Result(text="Hi.", status="completed", model_calls=1, cost=Decimal("0.5"))
USE = PromptCacheUse(predicted=2_000, predicted_read=1_900, predicted_calls=2)


def lines(*uses: PromptCacheUse) -> list[str]:
    sums = TurnSums()
    for use in uses:
        sums.add(replace(RESULT, prompt_cache=use))
    return sums.write_lines()[1:]


def test_what_was_predicted_and_paid_again_is_added_up() -> None:
    again = PromptCacheUse(prefix_changes=1, paid_again=500, paid_again_cost=Decimal("0.002"))

    assert lines(USE, again, again) == [
        "cache: 1,900 tokens, 2,000 predicted by the service's rule for 2 calls",
        "2 requests did not begin with the one before: 1,000 tokens paid again, $0.0040",
    ]
    assert lines(replace(again, paid_again_cost=None)) == [
        "1 request did not begin with the one before: 500 tokens paid again"
    ]
    assert lines(PromptCacheUse()) == []


async def test_a_result_has_what_its_calls_say() -> None:
    usages = [
        Usage(input=10, cache_write=2_000),
        Usage(input=10, cache_write=50, cache_read=2_000),
        Usage(input=2_070),
    ]
    with AnthropicServer([Answer("Hi.", usage=usage) for usage in usages]) as server:
        config = {
            "api_key": "key",
            "base_url": server.url,
            "default_model": "claude-opus-5",
            "prices": {"*": {"input": 10, "output": 10}},
        }
        agent = Agent(plan={"providers": [{"module": "provider-anthropic", "config": config}]})
        async with agent.session() as session:
            await session.run("Hello")
            second = await session.run("And now?")
            provider = session.session.coordinator.get("providers")["anthropic"]
            provider.default_model = "claude-opus-5-5"
            third = await session.run("And with another model?")

    assert second.prompt_cache == PromptCacheUse(
        predicted=2_000, predicted_read=2_000, predicted_calls=1
    )
    assert third.prompt_cache == PromptCacheUse(
        prefix_changes=1,
        paid_again=2_060,
        paid_again_cost=Decimal("0.0206"),
        predicted_calls=1,
    )
    assert third.to_dict()["prompt_cache"]["paid_again"] == 2_060
