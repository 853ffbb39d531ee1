"""The file of a budget, which tasks and processes share: whatever becomes of it, no limit is passed."""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from budget_in_file import NOON, layer, reserved, spent
from fake_step import FakeStep, api_error, ask, response

from amplifier_providers.settings import read_settings
from arcllm import ArcLLMAPIError
from arcllm.layers.budget import ArcLLMBudgetError, ArcLLMBudgetFileError, BudgetSettings
from arcllm.layers.budget.account import Account
from arcllm.layers.budget.settings import default_path
from arcllm.layers.budget.store import BudgetStore


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


# Holds: layer-10
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


# Holds: layer-10
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


# Holds: layer-13
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


# Holds: layer-13
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


def test_without_a_monthly_limit_there_is_none(tmp_path: Path) -> None:
    settings = {"monthly_limit_usd": None, "path": str(tmp_path / "budget")}
    assert read_settings(BudgetSettings, settings, "budget").monthly_limit_usd is None
    assert read_settings(BudgetSettings, {}, "budget").monthly_limit_usd == 500


def test_no_limit_needs_no_reservation(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    async def run() -> None:
        await layer(tmp_path, monthly_limit_usd=None).complete(ask())

    anyio.run(run)

    assert spent(tmp_path)["all", "2026-09"] == 200


# Holds: layer-14
def test_a_link_to_nothing_is_no_budget_file(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (tmp_path / "budget").symlink_to(elsewhere)

    with pytest.raises(
        ArcLLMBudgetFileError, match=r"it is a link to `.*elsewhere`, which does not"
    ):
        BudgetStore(tmp_path / "budget", 1).settle(None, Account.at(NOON, None, "a"), 1, [], 80)

    assert not elsewhere.exists()


# Holds: layer-14
def test_sqlite_makes_no_budget_file_that_others_can_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.open", lambda *_, **__: os.dup(2))  # somebody removed it meanwhile
    store = BudgetStore(tmp_path / "budget", 1)

    with pytest.raises(ArcLLMBudgetFileError, match="unable to open database file"):
        store.settle(None, Account.at(NOON, None, "a"), 1, [], 80)

    assert list(tmp_path.iterdir()) == []


def test_a_budget_file_may_have_any_name(tmp_path: Path) -> None:
    path = tmp_path / "50%? #1 é.sqlite3"
    store = BudgetStore(path, 1)
    store.settle(None, Account.at(NOON, None, "a"), 1, [], 80)
    store.close()

    assert path.stat().st_mode & 0o777 == 0o600
