"""Workers that are killed or frozen: another goes on, and what wakes up writes nothing."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from working import begin, list_texts, send, wait_for_endings, wait_for_event, wait_until, working

from amplifier_agent import Agent, ScriptedProvider, tool
from amplifier_modules.loops.boundary.call_context import TOOL_START
from amplifier_modules.stores.sqlite import SqliteStore

PROGRAM = Path(__file__).with_name("worker_program.py")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@contextmanager
def worker_process(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Run a worker in a process of its own; it is killed at the end of the block."""
    process = subprocess.Popen(
        [sys.executable, str(PROGRAM), str(folder)], stdout=subprocess.PIPE, text=True
    )
    try:
        with process:
            try:
                yield process
            finally:
                process.send_signal(signal.SIGCONT)
                process.kill()
    finally:
        process.wait()


async def freeze(process: subprocess.Popen[str], file: Path) -> None:
    """Stop a process while it does not hold the file, which nobody else could write to then."""

    async def try_to_freeze() -> bool:
        process.send_signal(signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)  # noqa: ASYNC222 -- it stops at once
        try:
            with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("ROLLBACK")
        except sqlite3.OperationalError:
            process.send_signal(signal.SIGCONT)
            return False
        return True

    await wait_until(try_to_freeze)


@tool
def work() -> str:
    """Is not run again."""
    raise AssertionError


async def go_on(store: SqliteStore) -> None:
    """Let another worker go on with the turn."""
    agent = Agent(ScriptedProvider(["taken over"]), tools=[work])
    async with working(store, {"helper": agent}):
        assert await wait_for_endings(store, "one", 1) == ["success"]


# Holds: worker-9
async def test_a_worker_that_is_killed_is_replaced_when_its_lease_ends(
    store: SqliteStore, tmp_path: Path
) -> None:
    await begin(store, "one")
    await send(store, "one", "Go.")
    with worker_process(tmp_path) as process:
        await wait_for_event(store, "one", TOOL_START)
        await wait_until(lambda: has_line(tmp_path))
        process.kill()
        await go_on(store)
    assert len((tmp_path / "lines").read_text().splitlines()) == 1
    assert list_texts(await store.read("one"), "user") == ["Go."]


# Holds: worker-6
async def test_a_worker_that_was_frozen_writes_nothing_when_it_wakes_up(
    store: SqliteStore, tmp_path: Path
) -> None:
    await begin(store, "one")
    await send(store, "one", "Go.")
    with worker_process(tmp_path) as process:
        begun = await wait_for_event(store, "one", TOOL_START)
        await wait_until(lambda: has_line(tmp_path))
        await freeze(process, store.folder / "one.sessions")
        await go_on(store)
        before = await store.read("one")
        (tmp_path / "gate").touch()
        process.send_signal(signal.SIGCONT)
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        assert any("lost: another worker has it" in each for each in lines)
        assert await store.read("one") == before
    assert [each.number for each in before if each.epoch == begun.epoch][-1] < before[-1].number


async def has_line(folder: Path) -> bool:
    path = folder / "lines"
    return path.exists() and path.read_text() != ""
