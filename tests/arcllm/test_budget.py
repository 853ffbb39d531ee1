"""Calls stay within budgets: what is charged to whom, and which call is not made."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from budget_in_file import NOON, PRICES, layer, reserved, spent
from fake_step import FakeStep, api_error, ask, response, take
from hypothesis import given
from hypothesis import strategies as st

from arcllm import ArcLLMAPIError, LLMResponse, Usage
from arcllm.layers.budget import ArcLLMBudgetError, BudgetLayer, BudgetSettings
from arcllm.layers.budget.account import dollars_of, micros_of
from arcllm.layers.budget.store import Standing
from arcllm.layers.fallback import FallbackLayer, FallbackSettings
from arcllm.step import Piece


async def test_a_call_is_charged_to_everybody_its_provider_and_its_agent(tmp_path: Path) -> None:
    answer = await layer(tmp_path, agent="scout", daily_limit_usd=1).complete(ask())

    assert spent(tmp_path) == {
        (scope, period): 200
        for scope in ("all", "provider:fake", "agent:scout")
        for period in ("2026-09", "2026-09-21")
    }
    assert reserved(tmp_path) == 0
    assert answer.metadata["budget"] == {
        "cost_usd": "0.000200",
        "limits": [
            {
                "scope": "all",
                "period": period,
                "spent_usd": "0.000200",
                "limit_usd": limit,
            }
            for period, limit in (("2026-09", "500.000000"), ("2026-09-21", "1.000000"))
        ],
    }


# Holds: layer-17
async def test_a_call_may_say_for_which_agent_it_is(tmp_path: Path) -> None:
    settings = {"agent": "writer", "agents": {"reader": {"daily_limit_usd": 0.0001}}}

    await layer(tmp_path, **settings).complete(ask())
    with pytest.raises(ArcLLMBudgetError, match="`agent:reader` for 2026-09-21 has too little"):
        await layer(tmp_path, **settings).complete(ask(notes={"agent": "reader"}))

    assert spent(tmp_path)["agent:writer", "2026-09"] == 200
    assert ("agent:reader", "2026-09") not in spent(tmp_path)


# Holds: layer-17
@pytest.mark.parametrize("is_stream", [False, True])
async def test_the_provider_that_answered_is_charged_by_its_own_price(
    tmp_path: Path, is_stream: bool
) -> None:
    prices = {"small": {"input": 10, "output": 20}, "large": {"input": 100, "output": 200}}
    limits = {"fake": {"daily_limit_usd": 1}, "next": {"daily_limit_usd": 2}}
    chain = FallbackLayer(
        FakeStep([api_error()]),
        FallbackSettings.model_validate({"chain": ["next:large"]}),
        lambda name, model: FakeStep([response(model="large")], name=name, model_name="large"),
    )
    budget = layer(tmp_path, chain, prices=prices, providers=limits)  # pyright: ignore[reportArgumentType] -- a layer, too
    pieces: list[Piece] = []

    if is_stream:
        await take(budget.stream(ask()), pieces)
    else:
        pieces.append(await budget.complete(ask()))

    assert isinstance(pieces[-1], LLMResponse)
    assert pieces[-1].metadata["budget"]["cost_usd"] == "0.002000"
    assert [each["scope"] for each in pieces[-1].metadata["budget"]["limits"]] == [
        "all",
        "provider:next",
    ]
    assert {key: micros for key, micros in spent(tmp_path).items() if len(key[1]) == 7} == {
        ("all", "2026-09"): 2000,
        ("provider:next", "2026-09"): 2000,
    }
    assert reserved(tmp_path) == 0


async def test_a_stream_of_another_provider_that_is_left_is_charged_by_its_price(
    tmp_path: Path,
) -> None:
    prices = {"small": {"input": 10, "output": 20}, "large": {"input": 100, "output": 200}}
    chain = FallbackLayer(
        FakeStep([api_error()]),
        FallbackSettings.model_validate({"chain": ["next:large"]}),
        lambda name, model: FakeStep([response("four four")], name=name, model_name="large"),
    )
    pieces = layer(tmp_path, chain, prices=prices).stream(ask("x" * 400))  # pyright: ignore[reportArgumentType] -- a layer, too

    await anext(pieces)
    await pieces.aclose()

    # 104 tokens of input for $100, one of output for $200 a million
    assert spent(tmp_path)["provider:next", "2026-09"] == 10_600


async def test_what_the_answer_says_it_cost_counts(tmp_path: Path) -> None:
    answer = response(metadata={"cost_usd": 0.1})

    await layer(tmp_path, FakeStep([answer])).complete(ask())

    assert spent(tmp_path)["all", "2026-09"] == 100_000


async def test_cached_tokens_have_their_own_price(tmp_path: Path) -> None:
    usage = Usage(input_tokens=1000, output_tokens=0, total_tokens=1000, cache_read_tokens=900)
    prices = {"small": {"input": 10, "output": 20, "cache_read": 1}}

    await layer(tmp_path, FakeStep([response(usage=usage)]), prices=prices).complete(ask())

    assert spent(tmp_path)["all", "2026-09"] == 1900


@pytest.mark.parametrize(
    ("settings", "scope", "period"),
    [
        ({"monthly_limit_usd": 0.002}, "all", "2026-09"),
        ({"daily_limit_usd": 0.002}, "all", "2026-09-21"),
        ({"providers": {"fake": {"daily_limit_usd": 0.002}}}, "provider:fake", "2026-09-21"),
        ({"agent": "a", "agents": {"a": {"monthly_limit_usd": 0.002}}}, "agent:a", "2026-09"),
    ],
)
async def test_a_call_that_could_pass_a_limit_is_not_made(
    tmp_path: Path, settings: dict[str, Any], scope: str, period: str
) -> None:
    beneath = FakeStep([response(metadata={"cost_usd": 0.001})])
    budget = layer(tmp_path, beneath, **settings, output_tokens=50)

    await budget.complete(ask())
    with pytest.raises(ArcLLMBudgetError) as caught:
        await budget.complete(ask())

    error = caught.value
    assert (error.scope, error.period, error.limit_usd) == (scope, period, Decimal("0.002"))
    assert error.used_usd == Decimal("0.001")
    assert len(beneath.calls) == 1
    assert str(error) == (
        f"the budget of `{scope}` for {period} has too little left: of $0.002000, $0.001000 are"
        f" spent, and this call may cost ${error.needed_usd}"
    )


async def test_the_limits_of_others_do_not_count(tmp_path: Path) -> None:
    nothing = {"monthly_limit_usd": 0}
    budget = layer(tmp_path, agent="a", agents={"b": nothing}, providers={"other": nothing})

    await budget.complete(ask())

    assert spent(tmp_path)["all", "2026-09"] == 200


async def test_a_new_day_and_a_new_month_by_utc_have_their_own_limits(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"daily_limit_usd": 0.0025}
    last_second, midnight = 1_790_812_799.0, 1_790_812_800.0  # 2026-09-30, 2026-10-01

    await layer(tmp_path, now=last_second, **settings).complete(ask())
    with pytest.raises(ArcLLMBudgetError):
        await layer(tmp_path, now=last_second, **settings).complete(
            ask(options={"max_tokens": 120})
        )
    await layer(tmp_path, now=midnight, **settings).complete(ask(options={"max_tokens": 120}))

    assert spent(tmp_path)["all", "2026-09-30"] == 200
    assert spent(tmp_path)["all", "2026-10-01"] == 200
    assert spent(tmp_path)["all", "2026-10"] == 200


async def test_there_is_one_warning_at_its_part_of_a_limit(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    beneath = FakeStep([response(metadata={"cost_usd": cost}) for cost in (0.79, 0.01, 0.01)])
    warnings: list[Standing] = []
    settings = BudgetSettings.model_validate(
        {"path": tmp_path / "budget", "prices": PRICES, "daily_limit_usd": 1}
    )
    budget = BudgetLayer(beneath, settings, now=lambda: NOON, on_warning=warnings.append)

    answers = [await budget.complete(ask()) for _ in range(3)]

    text = "$0.800000 of the $1.000000 of `all` for 2026-09-21 are spent"
    assert [answer.metadata["budget"].get("warnings") for answer in answers] == [None, [text], None]
    assert [(each.limit.period, each.spent) for each in warnings] == [("2026-09-21", 800_000)]
    assert caplog.messages == [text]


async def test_a_refused_call_costs_nothing(tmp_path: Path) -> None:
    budget = layer(tmp_path, FakeStep([api_error()]))

    with pytest.raises(ArcLLMAPIError):
        await budget.complete(ask())
    with pytest.raises(ArcLLMAPIError):
        await take(budget.stream(ask()), [])

    assert (spent(tmp_path), reserved(tmp_path)) == ({}, 0)


async def test_a_stream_costs_what_its_response_says(tmp_path: Path) -> None:
    pieces: list[Piece] = []

    await take(layer(tmp_path, FakeStep([response("a b")])).stream(ask()), pieces)

    assert spent(tmp_path)["all", "2026-09"] == 200
    assert isinstance(pieces[-1], LLMResponse)
    assert pieces[-1].metadata["budget"]["cost_usd"] == "0.000200"


async def test_a_stream_that_breaks_off_costs_its_input_and_what_came(tmp_path: Path) -> None:
    beneath = FakeStep([response("four four four")], fails_after=2)

    with pytest.raises(ArcLLMAPIError):
        await take(layer(tmp_path, beneath).stream(ask("x" * 400)), [])

    # 104 tokens of input for $10, 2 of output for $20 a million
    assert spent(tmp_path)["all", "2026-09"] == 1080
    assert reserved(tmp_path) == 0


async def test_a_stream_that_is_left_costs_its_input_and_what_came(tmp_path: Path) -> None:
    beneath = FakeStep([response("four four four")])
    pieces = layer(tmp_path, beneath).stream(ask("x" * 400))

    await anext(pieces)
    await pieces.aclose()

    assert spent(tmp_path)["all", "2026-09"] == 1060
    assert (reserved(tmp_path), beneath.open) == (0, 0)


@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_cancelled_call_costs_its_input(tmp_path: Path, is_stream: bool) -> None:
    waiting = anyio.Event()

    async def pause() -> None:
        waiting.set()
        await anyio.sleep_forever()

    beneath = FakeStep(pause=pause)
    budget, call = layer(tmp_path, beneath), ask("x" * 400)

    async def run() -> None:
        await (take(budget.stream(call), []) if is_stream else budget.complete(call))

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        await waiting.wait()
        assert reserved(tmp_path) == 1
        group.cancel_scope.cancel()

    assert spent(tmp_path)["all", "2026-09"] == 1040
    assert (reserved(tmp_path), beneath.open) == (0, 0)


async def test_an_unknown_price_is_noted_or_blocks(tmp_path: Path) -> None:
    answer = await layer(tmp_path, prices={}).complete(ask())

    assert answer.metadata["budget"] == {"cost_usd": "0.000000", "unpriced": True}
    beneath = FakeStep()
    with pytest.raises(ArcLLMBudgetError, match="no price is known for `small` of `fake`"):
        await layer(tmp_path, beneath, prices={}, unknown_price="block").complete(ask())
    assert beneath.calls == []
    assert not (tmp_path / "budget").exists()


async def test_an_answer_without_usage_costs_what_was_reserved(tmp_path: Path) -> None:
    answer = response(metadata={"unreported": ["input_tokens"]})

    answered = await layer(tmp_path, FakeStep([answer])).complete(ask())

    assert spent(tmp_path)["all", "2026-09"] == 2040  # 4 tokens of input, 100 of output
    assert answered.metadata["budget"]["estimated"] is True


async def test_a_model_of_the_own_machine_needs_no_file(tmp_path: Path) -> None:
    answer = await layer(tmp_path, FakeStep(name="ollama"), prices={}).complete(ask())

    assert answer.metadata["budget"] == {"cost_usd": "0.000000"}
    assert not (tmp_path / "budget").exists()


@given(st.decimals(0, 10**6, places=9))
def test_a_cost_is_never_rounded_down(dollars: Decimal) -> None:
    assert dollars <= dollars_of(micros_of(dollars)) < dollars + Decimal("0.000001")
