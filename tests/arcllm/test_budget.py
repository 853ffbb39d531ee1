"""Calls stay within budgets: reserved before, settled after, kept in a file that processes share."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from fake_step import FakeStep, api_error, ask, response, take
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from arcllm import ArcLLMAPIError, LLMResponse, Usage
from arcllm.layers.budget import (
    ArcLLMBudgetError,
    ArcLLMBudgetFileError,
    BudgetLayer,
    BudgetSettings,
)
from arcllm.layers.budget.account import Account, Limit, dollars_of, micros_of
from arcllm.layers.budget.settings import default_path
from arcllm.layers.budget.store import BudgetStore, Standing
from arcllm.layers.fallback import FallbackLayer, FallbackSettings
from arcllm.step import Piece

NOON = 1_790_000_000.0  # 2026-09-21
PRICES = {"*": {"input": 10, "output": 20}}
"""So that 10 tokens of input and 5 of output cost $0.0002."""


def layer(
    tmp_path: Path, beneath: FakeStep | None = None, now: float = NOON, **settings: Any
) -> BudgetLayer:
    values = {"path": tmp_path / "budget", "prices": PRICES, "output_tokens": 100, **settings}
    return BudgetLayer(
        beneath or FakeStep(), BudgetSettings.model_validate(values), now=lambda: now
    )


def spent(tmp_path: Path) -> dict[tuple[str, str], int]:
    with sqlite3.connect(tmp_path / "budget") as connection:
        rows = connection.execute("SELECT scope, period, micros FROM spent").fetchall()
    connection.close()
    return {(scope, period): micros for scope, period, micros in rows}


def reserved(tmp_path: Path) -> int:
    with sqlite3.connect(tmp_path / "budget") as connection:
        found = connection.execute("SELECT COUNT(*) FROM reserved").fetchone()[0]
    connection.close()
    return found


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


async def test_a_call_may_say_for_which_agent_it_is(tmp_path: Path) -> None:
    settings = {"agent": "writer", "agents": {"reader": {"daily_limit_usd": 0.0001}}}

    await layer(tmp_path, **settings).complete(ask())
    with pytest.raises(ArcLLMBudgetError, match="`agent:reader` for 2026-09-21 has too little"):
        await layer(tmp_path, **settings).complete(ask(notes={"agent": "reader"}))

    assert spent(tmp_path)["agent:writer", "2026-09"] == 200
    assert ("agent:reader", "2026-09") not in spent(tmp_path)


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


async def test_a_reservation_of_a_process_that_died_expires(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"daily_limit_usd": 0.003, "lease_seconds": 60}
    dead = BudgetStore(tmp_path / "budget", 1)
    account = Account.at(NOON, None, "fake")
    dead.reserve(account, 2000, [], NOON, 60)
    dead.close()

    with pytest.raises(ArcLLMBudgetError, match=r"\$0\.002000 reserved for calls under way"):
        await layer(tmp_path, now=NOON + 59, **settings).complete(ask())
    await layer(tmp_path, now=NOON + 60, **settings).complete(ask())

    assert reserved(tmp_path) == 0


async def test_calls_at_once_never_pass_a_limit_together(tmp_path: Path) -> None:
    beneath = FakeStep([response(metadata={"cost_usd": 0.002})])
    budget = layer(tmp_path, beneath, daily_limit_usd=0.0205)
    refused: list[ArcLLMBudgetError] = []

    async def run() -> None:
        try:
            await budget.complete(ask())
        except ArcLLMBudgetError as error:
            refused.append(error)

    async with anyio.create_task_group() as group:
        for _ in range(30):
            group.start_soon(run)

    assert spent(tmp_path)["all", "2026-09-21"] == 2000 * (30 - len(refused))
    assert 2000 * (30 - len(refused)) <= 20_500
    await budget.close()


def test_two_processes_never_pass_a_limit_together(tmp_path: Path) -> None:
    program = """
import sys
from pathlib import Path
from arcllm.layers.budget.account import Account, Limit
from arcllm.layers.budget.store import BudgetStore
store = BudgetStore(Path(sys.argv[1]), 60)
account = Account("a", "p", "2026-09-21", "2026-09")
limits = [Limit("all", "2026-09", 10_000)]
made = 0
for _ in range(100):
    found = store.reserve(account, 100, limits, 0.0, 60)
    if isinstance(found, int):
        store.settle(found, account, 100, limits, 80)
        made += 1
print(made)
"""
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path / "budget")],
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    made = [int(process.communicate(timeout=100)[0]) for process in running]

    assert sum(made) == 100
    assert spent(tmp_path)["all", "2026-09"] == 10_000
    assert reserved(tmp_path) == 0


async def test_a_file_that_is_none_of_ours_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "budget").write_bytes(b"not a database" * 100)
    beneath = FakeStep()

    with pytest.raises(ArcLLMBudgetFileError, match="file is not a database"):
        await layer(tmp_path, beneath).complete(ask())

    assert beneath.calls == []


async def test_a_file_of_a_later_version_is_an_error(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "budget")
    connection.execute("PRAGMA user_version = 7")
    connection.close()

    with pytest.raises(ArcLLMBudgetFileError, match="it has version 7 of the tables"):
        await layer(tmp_path).complete(ask())


async def test_a_folder_in_the_place_of_the_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "budget").mkdir()

    with pytest.raises(ArcLLMBudgetFileError, match=r"unable to open database file$"):
        await layer(tmp_path).complete(ask())


async def test_a_file_that_stays_locked_is_an_error(tmp_path: Path) -> None:
    await layer(tmp_path).complete(ask())
    other = sqlite3.connect(tmp_path / "budget", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        with pytest.raises(ArcLLMBudgetFileError, match=r"kept it locked for 0\.01 s"):
            await layer(tmp_path, busy_seconds=0.01).complete(ask())
    finally:
        other.close()


async def test_a_busy_file_does_not_hold_up_other_tasks(tmp_path: Path) -> None:
    budget = layer(tmp_path, busy_seconds=60)
    await budget.complete(ask())
    other = sqlite3.connect(tmp_path / "budget", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    turns = 0

    async with anyio.create_task_group() as group:
        group.start_soon(budget.complete, ask())
        while turns < 100:
            await anyio.lowlevel.checkpoint()
            turns += 1
        other.close()

    assert spent(tmp_path)["all", "2026-09"] == 400
    await budget.close()


async def test_a_reservation_that_nobody_waits_for_any_more_is_released(tmp_path: Path) -> None:
    beneath = FakeStep()
    budget = layer(tmp_path, beneath, busy_seconds=60)
    await budget.complete(ask())
    other = sqlite3.connect(tmp_path / "budget", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")

    async with anyio.create_task_group() as group:
        group.start_soon(budget.complete, ask())
        for _ in range(100):
            await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
    other.close()
    await budget.close()

    assert len(beneath.calls) == 1
    assert reserved(tmp_path) == 0
    assert spent(tmp_path)["all", "2026-09"] == 200


def test_a_task_that_is_cancelled_by_asyncio_leaves_no_reservation(tmp_path: Path) -> None:
    async def run() -> None:
        budget = layer(tmp_path, FakeStep(), busy_seconds=60)
        await budget.complete(ask())
        other = sqlite3.connect(tmp_path / "budget", isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        task = asyncio.create_task(budget.complete(ask()))
        for _ in range(100):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        other.close()
        await budget.close()

    asyncio.run(run())

    assert reserved(tmp_path) == 0


async def test_an_answer_whose_cost_cannot_be_written_is_not_lost(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    others: list[sqlite3.Connection] = []

    async def lock() -> None:
        other = sqlite3.connect(tmp_path / "budget", isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        others.append(other)

    budget = layer(tmp_path, FakeStep(pause=lock), busy_seconds=0.01)
    with pytest.raises(ArcLLMBudgetFileError) as caught:
        await budget.complete(ask())
    others.pop().close()

    assert caught.value.response is not None
    assert caught.value.response.content == "Hello"

    broken = layer(tmp_path, FakeStep([api_error()], pause=lock), busy_seconds=0.01)
    with pytest.raises(ArcLLMAPIError):
        await broken.complete(ask())
    others.pop().close()
    assert "kept it locked" in caplog.text
    assert reserved(tmp_path) == 2


async def test_the_file_is_only_for_its_user_and_opens_again(tmp_path: Path) -> None:
    budget = layer(tmp_path, path=tmp_path / "new" / "budget")

    await budget.complete(ask())
    await budget.close()
    await budget.complete(ask())
    await budget.close()

    assert (tmp_path / "new" / "budget").stat().st_mode & 0o777 == 0o600


def test_the_file_is_in_the_folder_for_state(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/x")
    assert default_path() == Path("/x/arcllm/budget.sqlite3")


@given(st.decimals(0, 10**6, places=9))
def test_a_cost_is_never_rounded_down(dollars: Decimal) -> None:
    assert dollars <= dollars_of(micros_of(dollars)) < dollars + Decimal("0.000001")


class Budgets(RuleBasedStateMachine):
    """Calls of two processes on one file, against plain sums."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        path = Path(self.folder.name) / "budget"
        self.stores = [BudgetStore(path, 10), BudgetStore(path, 10)]
        self.now = NOON
        self.under_way: list[tuple[int, Account, int, float]] = []
        self.spent: dict[tuple[str, str], int] = {}
        self.excess: dict[tuple[str, str], int] = {}
        """What settled above its reservation."""

    def teardown(self) -> None:
        for store in self.stores:
            store.close()
        self.folder.cleanup()

    def limits(self, account: Account) -> list[Limit]:
        limits = [Limit("all", account.month, 3000), Limit("all", account.day, 1000)]
        return [*limits, Limit("agent:a", account.day, 500)] if account.agent == "a" else limits

    @rule(
        store=st.integers(0, 1),
        agent=st.sampled_from(["a", "b", None]),
        micros=st.integers(0, 600),
        lease=st.sampled_from([10.0, 10_000.0]),
    )
    def reserve(self, store: int, agent: str | None, micros: int, lease: float) -> None:
        account = Account.at(self.now, agent, "p")
        self.under_way = [each for each in self.under_way if each[3] > self.now] + [
            (0, each[1], each[2], each[3]) for each in self.under_way if each[3] <= self.now
        ]
        found = self.stores[store].reserve(account, micros, self.limits(account), self.now, lease)
        fits = all(
            self.spent.get((limit.scope, limit.period), 0)
            + sum(
                each[2]
                for each in self.under_way
                if each[0] and limit.scope in each[1].scopes
                if limit.period in (each[1].day, each[1].month)
            )
            + micros
            <= limit.micros
            for limit in self.limits(account)
        )
        assert isinstance(found, int) == fits
        if isinstance(found, int):
            self.under_way.append((found, account, micros, self.now + lease))

    @precondition(lambda self: self.under_way)
    @rule(store=st.integers(0, 1), which=st.integers(0), micros=st.integers(0, 700))
    def settle(self, store: int, which: int, micros: int) -> None:
        number, account, held, expires = self.under_way.pop(which % len(self.under_way))
        standings = self.stores[store].settle(
            number or 1_000_000, account, micros, self.limits(account), 80
        )
        held = held if expires > self.now and number else 0
        for scope in account.scopes:
            for period in (account.month, account.day):
                key = scope, period
                self.spent[key] = self.spent.get(key, 0) + micros
                self.excess[key] = self.excess.get(key, 0) + max(0, micros - held)
        for standing in standings:
            key = standing.limit.scope, standing.limit.period
            assert standing.spent == self.spent.get(key, 0)

    @rule(seconds=st.sampled_from([1.0, 60.0, 86_400.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @invariant()
    def limits_are_passed_only_by_what_settled_above_its_reservation(self) -> None:
        for (scope, period), micros in self.spent.items():
            most = {("all", 7): 3000, ("all", 10): 1000, ("agent:a", 10): 500}
            limit = most.get((scope, len(period)))
            if limit is not None:
                assert micros <= limit + self.excess[scope, period]


TestBudgets = Budgets.TestCase


def test_no_limit_needs_no_reservation(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    async def run() -> None:
        await layer(tmp_path, monthly_limit_usd=None).complete(ask())

    anyio.run(run)

    assert spent(tmp_path)["all", "2026-09"] == 200
