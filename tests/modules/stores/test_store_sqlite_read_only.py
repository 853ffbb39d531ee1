"""What can be read of a store whose file or folder is read-only, and what is said to who writes."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from read_only import open_place, protect

from amplifier_agent import Agent, ScriptedProvider, tool
from amplifier_modules.stores import Claim, NewSession, StoreError
from amplifier_modules.stores.sqlite import SqliteStore

MODES = ["persist", "wal"]


@pytest.fixture
def place() -> Iterator[Path]:
    with open_place() as opened:
        yield opened


async def begin(folder: Path, mode: str) -> Claim:
    store = SqliteStore(folder=str(folder), journal_mode=mode)
    claim = await store.claim("one", "me", new=NewSession())
    claim = await store.append(claim, [("a", 1), ("b", "x" * 9000)])
    await store.put("one", "steer", "left")
    await store.close()
    return claim


# Holds: store-40
@pytest.mark.parametrize("what", ["files", "folder"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("written_in", MODES)
async def test_a_session_is_read_and_refuses_to_be_written(
    place: Path, written_in: str, mode: str, what: str
) -> None:
    folder = place / "sessions"
    claim = await begin(folder, written_in)
    store = SqliteStore(folder=str(folder), journal_mode=mode)
    before = await store.sessions(), await store.read("one"), await store.inbox("one")
    await store.close()
    again = SqliteStore(folder=str(folder), journal_mode=written_in)
    await again.read("one")  # so that its journal is that of the mode again
    await again.close()
    writes: list[Callable[[], Awaitable[object]]] = [
        lambda: store.append(claim, [("c", 3)]),
        lambda: store.claim("one", "you"),
        lambda: store.put("one", "steer", "right"),
        lambda: store.delete("one"),
    ]
    with protect(folder, what):
        assert await store.verify("one") == []
        assert (await store.sessions(), await store.read("one"), await store.inbox("one")) == before
        for write in writes:
            with pytest.raises(StoreError, match=r"`one` cannot be stored in .* is read-only$"):
                await write()
    assert (await store.sessions(), await store.read("one"), await store.inbox("one")) == before
    await store.append(claim, [("c", 3)])
    await store.close()


@pytest.mark.parametrize("mode", MODES)
async def test_what_only_a_log_has_is_not_left_out(place: Path, mode: str) -> None:
    folder, copy = place / "sessions", place / "copy"
    store = SqliteStore(folder=str(folder), journal_mode=mode)
    claim = await store.claim("one", "me", new=NewSession())
    await store.append(claim, [("a", 1)])
    before = await store.read("one")
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("*-shm"))
    await store.close()
    other = SqliteStore(folder=str(copy), journal_mode=mode)
    with protect(copy, "folder"):
        if mode == "wal":
            with pytest.raises(StoreError, match="`one` cannot be read from"):
                await other.read("one")
        else:
            assert await other.read("one") == before
    assert await other.read("one") == before
    await other.close()


# Holds: store-2
async def test_no_model_is_asked_and_no_tool_runs_for_a_session_that_cannot_be_stored(
    place: Path,
) -> None:
    runs: list[str] = []

    @tool
    async def pay() -> str:
        """Pay."""
        runs.append("paid")
        return "ok"

    folder = place / "sessions"
    await begin(folder, "persist")
    config = {"module": "store-sqlite", "config": {"folder": str(folder)}}
    model = ScriptedProvider([{"tool": "pay", "arguments": {}}, "Done."])
    agent = Agent(model, tools=[pay], store=config)
    with protect(folder, "folder"):
        async with agent.session(session_id="two") as session:
            with pytest.raises(StoreError, match=r"the store in `.*` cannot be used: .*denied"):
                await session.run("Pay.")
        with pytest.raises(StoreError, match=r"`one` cannot be stored in .* is read-only"):
            async with agent.session(session_id="one"):
                pass
    assert (model.requests, runs) == ([], [])
