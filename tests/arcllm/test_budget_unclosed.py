"""A model that nobody closes leaves no connection to the file of its budget open."""

from __future__ import annotations

import gc
import sqlite3
from pathlib import Path

import pytest

from arcllm.layers.budget.account import Account
from arcllm.layers.budget.store import BudgetStore


def test_a_store_that_nobody_closes_closes_its_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def keep(*args: object, **options: object) -> sqlite3.Connection:
        opened.append(connect(*args, **options))  # pyright: ignore
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", keep)
    store = BudgetStore(tmp_path / "budget.sqlite", 1.0)
    account = Account.at(0.0, None, "openai")

    assert isinstance(store.reserve(account, 1, [], 0.0, 60.0), int)
    del store
    gc.collect()

    with pytest.raises(sqlite3.ProgrammingError, match="closed database"):
        opened[0].execute("SELECT 1")
