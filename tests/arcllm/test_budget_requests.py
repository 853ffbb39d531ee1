"""Requests are reserved as they are sent: no limit is passed where services keep `max_tokens`."""

from __future__ import annotations

import json
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import anyio
import pytest
from budget_in_file import NOON, reserved, spent

from amplifier_providers.prices.allowance import CALL_ALLOWANCE
from amplifier_testing.servers import (
    Answer,
    AnthropicServer,
    ChatServer,
    Fault,
    Recorded,
    Usage,
)
from arcllm import ArcLLMAPIError, LLMResponse, Model, load_model
from arcllm.layers.budget import ArcLLMBudgetError
from arcllm.layers.budget.account import MOST_MICROS, Account, Limit
from arcllm.layers.budget.store import BudgetStore, Standing

sys.path.insert(0, str(Path(__file__).parents[1] / "agent"))
from greedy_server import INPUT, MILLION, OUTPUT, PRICES, GreedyServer

WAYS = pytest.mark.parametrize("is_stream", [False, True])
AT_ONCE = {"backoff_base_seconds": 0.001}
CENT = Decimal("0.01")


def model_of(server: Any, folder: Path, dollars: Any = CENT, **layers: Any) -> Model:
    budget = {"daily_limit_usd": dollars, "path": folder / "budget", "prices": PRICES}
    layers = {"budget": budget, "base_url": server.url, **layers}
    return load_model("anthropic:claude-opus-4-6", api_key="key", **layers)


async def asked(model: Model, is_stream: bool, text: str = "Hi", **options: Any) -> LLMResponse:
    if not is_stream:
        return await model.complete(text, **options)
    *_, last = [piece async for piece in model.stream(text, **options)]
    assert isinstance(last, LLMResponse)
    return last


def dollars(folder: Path, scope: str = "all") -> Decimal:
    by_day = {whose: micros for (whose, period), micros in spent(folder).items() if period[8:]}
    return Decimal(by_day.get(scope, 0)) / MILLION


# Holds: layer-11
@WAYS
async def test_a_thinking_budget_that_raises_the_limit_is_reserved_too(
    tmp_path: Path, is_stream: bool
) -> None:
    budget = {"daily_limit_usd": 0.01, "path": tmp_path / "budget"}
    refused = 0
    with GreedyServer(*["Hello."] * 9) as server:
        for thinks in (None, 8_192):
            model = load_model(
                "anthropic:claude-sonnet-4-5",
                api_key="key",
                base_url=server.url,
                budget=budget,
                thinking_budget_tokens=thinks,
            )
            for _ in range(4):
                try:
                    await asked(model, is_stream, max_tokens=100)
                except ArcLLMBudgetError:
                    refused += 1
            await model.close()
    # Of this model, a million tokens that it writes cost $15, and that it reads, $3.
    read = sum(each.input for each in server.spent)
    written = sum(each.output for each in server.spent)
    assert 0 < Decimal(read * 3 + written * 15) / MILLION <= CENT
    assert refused > 0


# Holds: layer-11
@WAYS
async def test_the_limit_of_an_answer_is_lowered_to_what_is_paid_and_says_so(
    tmp_path: Path, is_stream: bool
) -> None:
    with GreedyServer("Hello.") as server:
        async with model_of(server, tmp_path, 0.05) as model:
            answer = await asked(model, is_stream, max_tokens=9_000)
    sent = server.requests[0].body["max_tokens"]
    assert 256 <= sent < 2_000
    assert answer.metadata["degradations"] == [
        {
            "requested": "an answer of 9,000 tokens",
            "actual": f"at most {sent:,} tokens",
            "reason": "the budget pays for no more",
        }
    ]
    assert server.cost == dollars(tmp_path) <= Decimal("0.05")
    assert answer.metadata["budget"]["cost_usd"] == f"{server.cost:.6f}"


# Holds: layer-11
@WAYS
async def test_a_request_with_room_for_less_than_256_tokens_is_not_sent(
    tmp_path: Path, is_stream: bool
) -> None:
    with GreedyServer() as server:
        async with model_of(server, tmp_path, 0.006) as model:
            with pytest.raises(ArcLLMBudgetError) as refused:
                await asked(model, is_stream)
    error = refused.value
    assert server.requests == []
    assert error.limit_usd == Decimal("0.006") < error.needed_usd < CENT
    assert str(error) == (
        f"the budget of `all` for {error.period} has too little left: of $0.006000, $0.000000 are"
        f" spent, and this call may cost ${error.needed_usd} with an answer of 256 tokens"
    )


async def test_a_short_answer_needs_no_more_room_than_it_asks_for(tmp_path: Path) -> None:
    with GreedyServer("Hello.") as server:
        async with model_of(server, tmp_path, 0.006) as model:
            answer = await model.complete("Hi", max_tokens=20)
    assert server.requests[0].body["max_tokens"] == 20
    assert "degradations" not in answer.metadata


# Holds: layer-11
@WAYS
async def test_calls_at_once_never_pass_a_limit_together(tmp_path: Path, is_stream: bool) -> None:
    refused: list[ArcLLMBudgetError] = []
    with GreedyServer(*["Hello."] * 16) as server:
        async with model_of(server, tmp_path, 0.05) as model, anyio.create_task_group() as group:

            async def ask() -> None:
                try:
                    await asked(model, is_stream, max_tokens=400)
                except ArcLLMBudgetError as error:
                    refused.append(error)

            for _ in range(16):
                group.start_soon(ask)
    assert 2 <= len(server.spent) == 16 - len(refused)
    assert server.cost == dollars(tmp_path) <= Decimal("0.05")
    assert reserved(tmp_path) == 0


# Holds: layer-12
@WAYS
async def test_each_attempt_that_may_have_been_paid_counts(tmp_path: Path, is_stream: bool) -> None:
    faults = [Fault(cut=0), Fault(status=529)]
    with GreedyServer(*["Hello."] * 3, faults=faults) as server:
        async with model_of(server, tmp_path, 0.05, retry=AT_ONCE) as model:
            answer = await asked(model, is_stream, max_tokens=400)
    most = Decimal(len(server.requests[0].raw) * INPUT + 400 * OUTPUT) / MILLION
    lost = dollars(tmp_path) - Decimal(answer.metadata["cost_usd"])
    assert [each.body["max_tokens"] for each in server.requests] == [400, 400, 400]
    assert most <= lost < most * 2
    assert answer.metadata["budget"]["cost_usd"] == f"{dollars(tmp_path):.6f}"
    assert answer.metadata["budget"]["estimated"] is True


# Holds: layer-12
@WAYS
async def test_a_request_that_the_service_refuses_costs_nothing(
    tmp_path: Path, is_stream: bool
) -> None:
    with GreedyServer(faults=[Fault(status=529)]) as server:
        async with model_of(server, tmp_path) as model:
            with pytest.raises(ArcLLMAPIError):
                await asked(model, is_stream, max_tokens=100)
    assert (spent(tmp_path), reserved(tmp_path)) == ({}, 0)


async def test_a_stream_that_is_left_costs_what_was_reserved(tmp_path: Path) -> None:
    with GreedyServer("Hello to all of you.") as server:
        model = model_of(server, tmp_path)
        async with model, model.stream("Hi", max_tokens=100) as pieces:
            await anext(pieces)
            assert CALL_ALLOWANCE.get() is None
    most = Decimal(len(server.requests[0].raw) * INPUT + 100 * OUTPUT) / MILLION
    assert most <= dollars(tmp_path) <= CENT
    assert reserved(tmp_path) == 0


WRONG: list[Any] = [
    None,
    {},
    "many",
    {"prompt_tokens": None, "completion_tokens": None},
    {"prompt_tokens": "9", "completion_tokens": [1]},
    {"prompt_tokens": -1_000_000, "completion_tokens": -1_000_000, "total_tokens": -2_000_000},
    {"prompt_tokens": 9, "completion_tokens": -5},
]
MOST = {"prompt_tokens": 2**63 - 1, "completion_tokens": 2**63 - 1, "total_tokens": 2**63 - 1}


def answer_with(usage: Any) -> Recorded:
    """Return an answer with this usage, as a service sends it."""
    common = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "gpt-4.1"}
    choice = {"index": 0, "delta": {"role": "assistant", "content": "Hello."}}
    end: dict[str, Any] = {"index": 0, "delta": {}, "finish_reason": "stop"}
    chunks: list[Any] = [
        {**common, "choices": [choice]},
        {**common, "choices": [end], "usage": usage},
    ]
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return Recorded("".join([*lines, "data: [DONE]\n\n"]).encode())


def chat_model(server: Any, budget: dict[str, Any]) -> Model:
    return load_model("openai_chat:gpt-4.1", api_key="key", base_url=server.url, budget=budget)


# Holds: layer-12
@WAYS
@pytest.mark.parametrize("usage", WRONG, ids=json.dumps)
async def test_usage_that_a_service_does_not_count_costs_what_was_reserved(
    tmp_path: Path, usage: Any, is_stream: bool
) -> None:
    prices = {"gpt": {"input": INPUT, "output": OUTPUT}}
    budget = {"path": tmp_path / "budget", "daily_limit_usd": CENT, "prices": prices}
    with ChatServer([answer_with(usage)] * 2) as server:
        async with chat_model(server, budget) as model:
            answer = await asked(model, is_stream, max_tokens=300)
            with pytest.raises(ArcLLMBudgetError):
                await asked(model, is_stream, max_tokens=300)
    most = Decimal(300 * OUTPUT) / MILLION
    assert most < dollars(tmp_path) < CENT
    assert answer.metadata["budget"]["estimated"] is True
    assert min(answer.usage.input_tokens, answer.usage.output_tokens) >= 0


# Holds: layer-12
@WAYS
async def test_the_largest_counts_lose_no_answer_and_use_the_budget_up(
    tmp_path: Path, is_stream: bool
) -> None:
    prices = {"gpt": {"input": INPUT, "output": OUTPUT}}
    budget = {"path": tmp_path / "budget", "daily_limit_usd": CENT, "prices": prices}
    with ChatServer([answer_with(MOST)]) as server:
        async with chat_model(server, budget) as model:
            answer = await asked(model, is_stream, max_tokens=300)
            with pytest.raises(ArcLLMBudgetError):
                await asked(model, is_stream, max_tokens=300)
    assert answer.content == "Hello."
    assert dollars(tmp_path) == Decimal(MOST_MICROS) / MILLION


# Holds: layer-12
def test_the_sums_of_a_file_stay_whole_numbers(tmp_path: Path) -> None:
    store = BudgetStore(tmp_path / "budget", 10)
    account = Account.at(NOON, None, "fake")
    for _ in range(3):
        store.settle(None, account, 2**61, (), 80)
    limit = Limit("all", account.month, 2**62)
    assert store.settle(None, account, 1, (limit,), 80)[0].spent == 2**62
    assert store.reserve(account, 1, (limit,), NOON, 10) == Standing(limit, 2**62)
    store.close()


@WAYS
async def test_a_model_of_the_chain_whose_provider_has_no_room_is_passed_over(
    tmp_path: Path, is_stream: bool
) -> None:
    prices = {"gpt": {"input": 2, "output": 2}, **PRICES}
    budget = {
        "path": tmp_path / "budget",
        "prices": prices,
        "providers": {"anthropic": {"daily_limit_usd": 0.0001}, "openai": {"daily_limit_usd": 0}},
    }
    with GreedyServer() as full, ChatServer([Answer("Hello.", usage=Usage(10, 5))]) as server:
        model = load_model(
            "anthropic:claude-opus-4-6",
            api_key="key",
            base_url=full.url,
            budget=budget,
            fallback={"chain": ["openai:gpt-4.1", "openai_chat:gpt-4.1-mini"]},
        )
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("OPENAI_API_KEY", "key")
            environment.setenv("OPENAI_BASE_URL", server.url)
            answer = await asked(model, is_stream)
        await model.close()
    assert (answer.content, full.requests) == ("Hello.", [])
    assert dollars(tmp_path, "provider:openai_chat") == Decimal(15 * 2) / MILLION
    assert dollars(tmp_path, "provider:anthropic") == 0


@pytest.mark.parametrize("unknown", ["allow", "block"])
async def test_an_unknown_price_is_noted_or_the_request_is_not_sent(
    tmp_path: Path, unknown: str
) -> None:
    budget = {"path": tmp_path / "budget", "unknown_price": unknown}
    with ChatServer(["Hello."]) as server:
        async with chat_model(server, budget) as model:
            if unknown == "block":
                with pytest.raises(ArcLLMBudgetError, match=r"no price is known for `gpt-4\.1`"):
                    await model.complete("Hi")
                assert server.requests == []
            else:
                answer = await model.complete("Hi")
                assert answer.metadata["budget"] == {"cost_usd": "0.000000", "unpriced": True}
    assert not (tmp_path / "budget").exists()


@pytest.mark.parametrize("price", [0, 1_000])
async def test_the_prices_of_the_budget_go_before_those_of_the_provider(
    tmp_path: Path, price: int
) -> None:
    own = {"claude": {"input": price, "output": price}}
    budget = {"path": tmp_path / "budget", "daily_limit_usd": 5, "prices": own}
    used = Usage(input=70, output=9, cache_read=8, cache_write=7, reasoning=6)
    with AnthropicServer([Answer("Hello.", usage=used)]) as server:
        async with model_of(server, tmp_path, budget=budget) as model:
            answer = await model.complete("Hi", max_tokens=9_000)
    assert answer.metadata["budget"]["cost_usd"] == f"{Decimal(price * 100) / MILLION:.6f}"
    assert (server.requests[0].body["max_tokens"] == 9_000) == (price == 0)
