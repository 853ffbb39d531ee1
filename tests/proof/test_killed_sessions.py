"""A process that is killed at any moment loses nothing that it acknowledged, and does nothing twice."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from random import Random
from threading import Event, Thread
from typing import Any

import pytest
from postgres_fixture import Database
from postgres_server import PostgresServer

KILLS = 300
FREEZES = 60
NEVER = (
    "twice",
    "missing",
    "unknown_to_the_journal",
    "lost_answers",
    "lost_notes",
    "notes_read_twice",
)
"""What no process may do, however it ends."""


LIVES = 0.1, 1.0
"""Seconds after which a server is killed."""


@contextmanager
def killing(server: PostgresServer) -> Iterator[None]:
    """Kill a server and start it, again and again."""
    is_over = Event()

    def kill() -> None:
        chance = Random(3)
        while not is_over.wait(chance.uniform(*LIVES)):
            server.stop(signal.SIGKILL)
            server.start()

    killer = Thread(target=kill)
    killer.start()
    try:
        yield
    finally:
        is_over.set()
        killer.join()


def run(program: str, *arguments: object) -> dict[str, Any]:
    """Return the counts that a program prints."""
    command = [sys.executable, str(Path(__file__).with_name(program)), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("mode", ["persist", "wal"])
def test_nothing_is_lost_and_nothing_runs_twice(tmp_path: Path, mode: str) -> None:
    counts = run("killed_sessions.py", tmp_path, mode, KILLS)
    assert {name: counts[name] for name in NEVER} == dict.fromkeys(NEVER, 0)
    assert counts["effects"] > 50, counts
    assert counts["notes"] > 15, counts
    assert counts["unknown_outcomes"] > 0, counts


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("mode", ["persist", "wal"])
def test_a_process_that_was_taken_for_dead_writes_nothing(tmp_path: Path, mode: str) -> None:
    counts = run("frozen_sessions.py", tmp_path, mode, FREEZES)
    never = (*NEVER, "stale_rows")
    assert {name: counts[name] for name in never} == dict.fromkeys(never, 0)
    endings = counts["endings"]
    # Frozen while it wrote, it holds the lock of the file; before it had begun, it comes later.
    others = {"other refused, frozen goes on", "other done, frozen goes on"}
    assert endings.keys() - others == {"other done, frozen stale"}, counts
    assert endings["other done, frozen stale"] == FREEZES, counts


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kills_server", [False, True])
def test_nothing_is_lost_in_a_database(
    postgres: Database,
    tmp_path: Path,
    *,
    kills_server: bool,
) -> None:
    with killing(postgres.server) if kills_server else nullcontext():
        counts = run("killed_sessions.py", tmp_path, postgres.dsn, KILLS)
    assert {name: counts[name] for name in NEVER} == dict.fromkeys(NEVER, 0)
    assert counts["effects"] > 50, counts
    assert counts["unknown_outcomes"] > 0, counts


@pytest.mark.timeout(1800)
def test_a_process_that_was_taken_for_dead_writes_nothing_to_a_database(
    postgres: Database,
    tmp_path: Path,
) -> None:
    counts = run("frozen_sessions.py", tmp_path, postgres.dsn, FREEZES)
    never = (*NEVER, "stale_rows")
    assert {name: counts[name] for name in never} == dict.fromkeys(never, 0)
    endings = counts["endings"]
    # A frozen process holds no lock of the database; before it had begun, it comes later.
    assert endings.keys() - {"other done, frozen goes on"} == {"other done, frozen stale"}, counts
    assert endings["other done, frozen stale"] == FREEZES, counts
