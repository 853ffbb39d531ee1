"""Messages to a stored session while it works: none that was acknowledged is lost, or read twice."""

from __future__ import annotations

import sys
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from copied_store import CopiedStore

from amplifier_agent import Agent, ScriptedProvider, hook, tool
from amplifier_core import HookResult
from amplifier_modules.stores import StoreError
from amplifier_modules.stores.sqlite import SqliteStore


def store_in(folder: Path) -> dict[str, Any]:
    return {"module": "store-sqlite", "config": {"folder": str(folder)}}


async def read_inbox(folder: Path, id: str = "chat") -> list[Any]:
    store = SqliteStore(folder=str(folder))
    try:
        return [each.body for each in await store.inbox(id)]
    finally:
        await store.close()


def list_users(messages: list[dict[str, Any]]) -> list[str]:
    return [each["content"] for each in messages if each["role"] == "user"]


# Holds: store-39
async def test_a_message_that_was_acknowledged_is_read_once_after_any_crash(tmp_path: Path) -> None:
    store = CopiedStore(tmp_path / "now")
    acknowledged: dict[str, int] = {}

    def steer(text: str) -> None:
        session.steer(text)
        acknowledged[text] = store.copy()

    @tool
    async def look() -> str:
        """Look."""
        steer("Only in src.")
        thread = Thread(target=steer, args=("Not in docs.",))
        thread.start()
        thread.join()
        return "300 files"

    script = [{"tool": "look", "arguments": {}}, "Done."]
    agent = Agent(ScriptedProvider(script), tools=[look], store=store)
    async with agent.session(session_id="chat") as session:
        result = await session.run("Find it.")
    await store.close()
    said = ["Find it.", "Only in src.", "Not in docs."]
    assert list_users(result.messages) == said
    counts: set[int] = set()
    for number, copy in enumerate(store.copies):
        again = Agent(ScriptedProvider(["Done."] * 2), tools=[look], store=store_in(copy))
        async with again.session(session_id="chat") as session:
            going_on = session.resume_turn() if session.has_open_turn else session.run("More?")
            heard = list_users((await going_on).messages)
        must_be = [text for text in said[1:] if acknowledged[text] <= number]
        assert [each for each in heard if each in said[1:]] in (must_be, said[1 : len(must_be) + 2])
        assert await read_inbox(copy) == []
        counts.add(len(must_be))
    assert counts == {0, 1, 2}


# Holds: store-39
async def test_a_message_at_the_end_of_a_session_is_read_by_the_next(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    agent = Agent(ScriptedProvider(["Yes.", "No."]), store=store_in(tmp_path))
    async with agent.session(session_id="chat") as session:
        session.steer("Be brief.")
        await session.run("One?")
        session.steer("Be briefer.")
    assert caplog.messages == []
    assert await read_inbox(tmp_path) == [{"text": "Be briefer."}]
    async with agent.session(session_id="chat") as session:
        result = await session.run("Two?")
    assert list_users(result.messages) == ["One?", "Be brief.", "Two?", "Be briefer."]
    assert await read_inbox(tmp_path) == []


async def test_a_message_may_begin_a_session(tmp_path: Path) -> None:
    agent = Agent(ScriptedProvider(["Yes."]), store=store_in(tmp_path))
    async with agent.session(session_id="chat") as session:
        session.steer("Be brief.")
        assert await read_inbox(tmp_path) == [{"text": "Be brief."}]
        await session.run("One?")
    (info,) = await agent.sessions()
    assert (info.id, info.meta["title"], info.owner) == ("chat", "One?", None)


async def test_a_denied_message_is_not_read_again(tmp_path: Path) -> None:
    @hook("orchestrator:steering_submitted")
    def deny(_event: str, _data: dict[str, Any]) -> HookResult:
        return HookResult(action="deny", reason="not now")

    agent = Agent(ScriptedProvider(["Yes.", "Yes."]), hooks=[deny], store=store_in(tmp_path))
    async with agent.session(session_id="chat") as session:
        session.steer("Be brief.")
        await session.run("One?")
    assert await read_inbox(tmp_path) == []
    async with agent.replace(hooks=[]).session(session_id="chat") as session:
        assert list_users((await session.run("Two?")).messages) == ["One?", "Two?"]


async def test_a_cancelled_turn_discards_its_messages_for_good(tmp_path: Path) -> None:
    @tool
    async def look() -> str:
        """Look."""
        session.steer("Be brief.")
        session.cancel(graceful=True)
        return "300 files"

    model = ScriptedProvider([{"tool": "look", "arguments": {}}, "Yes."])
    agent = Agent(model, tools=[look], store=store_in(tmp_path))
    async with agent.session(session_id="chat") as session:
        assert (await session.run("One?")).status == "cancelled"
    assert await read_inbox(tmp_path) == []
    async with agent.session(session_id="chat") as session:
        assert list_users((await session.run("Two?")).messages) == ["One?", "Two?"]


async def test_a_message_is_read_once_if_the_inbox_is_looked_at_meanwhile(tmp_path: Path) -> None:
    class Watched(SqliteStore):
        async def put(self, *given: Any) -> int:
            entry = await super().put(*given)
            await session.session.coordinator.get_capability("session.journal").inbox.look()
            return entry

    store = Watched(folder=str(tmp_path))
    agent = Agent(ScriptedProvider(["Yes."] * 3), store=store)
    async with agent.session(session_id="chat") as session:
        await session.run("One?")
        session.steer("Be brief.")
        result = await session.run("Two?")
    await store.close()
    assert list_users(result.messages) == ["One?", "Two?", "Be brief."]


async def test_a_message_that_cannot_be_stored_is_refused(tmp_path: Path) -> None:
    class Full(SqliteStore):
        async def put(self, *_: Any) -> int:
            raise StoreError("session `chat` cannot be stored: the disk is full")

    store = Full(folder=str(tmp_path))
    agent = Agent(ScriptedProvider(["Yes.", "Yes."]), store=store)
    async with agent.session(session_id="chat") as session:
        await session.run("One?")
        with pytest.raises(StoreError, match="the disk is full"):
            session.steer("Be brief.")
        assert list_users((await session.run("Two?")).messages) == ["One?", "Two?"]
    await store.close()
