"""A budget layer over a file of its own, and what is in that file."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from fake_step import FakeStep

from arcllm.layers.budget import BudgetLayer, BudgetSettings

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
