"""A worker runs what is due of its agents, once each, and leaves the rest to others."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from working import (
    begin,
    list_texts,
    send,
    wait_for_endings,
    wait_for_event,
    wait_for_rest,
    wait_until,
    working,
)

from amplifier_agent import Agent, ScriptedProvider, tool
from amplifier_agent.session import running_session
from amplifier_core import world
from amplifier_core.events import EXECUTION_START
from amplifier_modules.loops.boundary.call_context import TOOL_START
from amplifier_modules.stores import NewSession, StoreError
from amplifier_modules.stores.inbox import STEERING, STOP
from amplifier_modules.stores.sqlite import SqliteStore
from amplifier_serve import Worker


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": name, "arguments": arguments}


# Holds: worker-1
@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
async def test_prompts_are_turns_in_their_order_and_the_session_is_given_back(
    store: SqliteStore,
) -> None:
    lines: list[str] = []
    await begin(store, "one")
    for prompt in ("First?", "Second?"):
        await send(store, "one", prompt)
    agent = Agent(ScriptedProvider(["1", "2", "3"]))
    async with working(store, {"helper": agent}, lines):
        await wait_for_endings(store, "one", 2)
        await wait_for_rest(store, "one")
        await send(store, "one", "Third?")
        await wait_for_endings(store, "one", 3)
        info = await wait_for_rest(store, "one")
    assert info.due is None
    events = await store.read("one")
    assert list_texts(events, "user") == ["First?", "Second?", "Third?"]
    assert list_texts(events, "assistant") == ["1", "2", "3"]
    assert await store.inbox("one") == []
    assert [each.partition(" in ")[0] for each in lines] == [
        "takes sessions of `helper`, 4 at once",
        "`one`: taken, for agent `helper`",
        "`one`: turn completed",
        "`one`: turn completed",
        "`one`: given back",
        "`one`: taken, for agent `helper`",
        "`one`: turn completed",
        "`one`: given back",
    ]


# Holds: worker-2
async def test_a_worker_takes_its_agents_and_its_folders_alone(
    store: SqliteStore, tmp_path: Path
) -> None:
    folders: list[str] = []

    @tool
    def look() -> str:
        """Look where this is."""
        folders.append(str(Path.cwd()))
        return "here"

    for id, meta in (
        ("other", {"agent": "other"}),
        ("gone", {"folder": str(tmp_path / "gone")}),
        ("mine", {"folder": str(tmp_path)}),
    ):
        await begin(store, id, **meta)
        await send(store, id, "Go.")
    agent = Agent(ScriptedProvider(["done"]))
    async with working(store, {"helper": agent}):
        await wait_for_endings(store, "mine", 1)
        await wait_for_rest(store, "mine")
    found = {each.id: each.epoch for each in await store.sessions()}
    assert found == {"other": 1, "gone": 1, "mine": 2}


# Holds: worker-3
async def test_a_question_is_no_worker_s_business_until_its_answer_or_its_time_out(
    store: SqliteStore,
) -> None:
    ran: list[str] = []

    @tool(needs_approval=True, approval_timeout=3600)
    def wipe() -> str:
        """Delete everything."""
        ran.append("wipe")
        return "gone"

    await begin(store, "one")
    await send(store, "one", "Clean up.")
    agent = Agent(
        ScriptedProvider([call("wipe"), "cleaned"]), tools=[wipe], approvals="wait", store=store
    )
    async with working(store, {"helper": agent}):
        assert await wait_for_endings(store, "one", 1) == ["awaiting_approval"]
        info = await wait_for_rest(store, "one")
        assert info.due is not None
        assert 3500 < info.due - world.time() <= 3600
        (question,) = await agent.questions("one")
        await agent.answer("one", question.id, True)
        assert await wait_for_endings(store, "one", 2) == ["awaiting_approval", "success"]
        info = await wait_for_rest(store, "one")
    assert (ran, info.due, await store.inbox("one")) == (["wipe"], None, [])


async def test_an_answer_to_a_sub_agent_s_question_goes_on_with_the_turn_of_its_session(
    store: SqliteStore,
) -> None:
    @tool(needs_approval=True)
    def wipe() -> str:
        """Delete everything."""
        return "gone"

    await begin(store, "one")
    await send(store, "one", "Have it cleaned.")
    task = {"module": "tool-task", "config": {}}
    script = [call("task", prompt="Clean up."), call("wipe"), "cleaned", "it is clean"]
    agent = Agent(ScriptedProvider(script), tools=[task, wipe], approvals="wait", store=store)
    async with working(store, {"helper": agent}):
        assert await wait_for_endings(store, "one", 1) == ["awaiting_approval"]
        await wait_for_rest(store, "one")
        (question,) = await agent.questions("one")
        await agent.answer("one", question.id, True)
        assert await wait_for_endings(store, "one", 2) == ["awaiting_approval", "success"]
        info = await wait_for_rest(store, "one")
    assert list_texts(await store.read("one"), "assistant")[-1] == "it is clean"
    assert (info.due, await store.inbox("one")) == (None, [])


async def test_a_question_whose_time_has_passed_is_denied_by_the_next_worker(
    store: SqliteStore,
) -> None:
    @tool(needs_approval=True, approval_timeout=0.2)
    def wipe() -> str:
        """Delete everything."""
        raise AssertionError

    await begin(store, "one")
    await send(store, "one", "Clean up.")
    agent = Agent(ScriptedProvider([call("wipe"), "left"]), tools=[wipe], approvals="wait")
    async with working(store, {"helper": agent}):
        assert await wait_for_endings(store, "one", 2) == ["awaiting_approval", "success"]
        info = await wait_for_rest(store, "one")
    assert info.due is None


# Holds: worker-10
async def test_a_turn_that_ends_its_workers_is_cancelled(store: SqliteStore) -> None:
    lines: list[str] = []
    claim = await store.claim("one", "worker", new=NewSession(meta={"agent": "helper"}))
    rows = [{"prompt": "Go."}] + [{"prompt": "Go.", "goes_on": True}] * 5
    claim = await store.append(claim, [(EXECUTION_START, each) for each in rows])
    await store.end(claim, due=1.0)
    agent = Agent(ScriptedProvider([]))
    async with working(store, {"helper": agent}, lines):
        assert await wait_for_endings(store, "one", 1) == ["cancelled"]
        failed = await wait_for_event(store, "one", "turn:failed")
        info = await wait_for_rest(store, "one")
    line = "5 workers have ended, one after the other, while they ran it"
    assert (failed.body, info.due) == ({"error": line}, None)
    assert f"`one`: turn is cancelled: {line}" in lines


# Holds: worker-11
async def test_a_store_that_cannot_be_used_is_said_once(tmp_path: Path) -> None:
    lines: list[str] = []

    class BrokenStore(SqliteStore):
        """A store whose disk fails twice."""

        failures = 2

        async def take(self, *given: Any, **options: Any) -> Any:
            """Fail, or take."""
            if self.failures:
                self.failures -= 1
                raise StoreError("disk I/O error")
            return await super().take(*given, **options)

    store = BrokenStore(folder=str(tmp_path))
    await begin(store, "one")
    await send(store, "one", "Go.")
    async with working(store, {"helper": Agent(ScriptedProvider(["done"]))}, lines):
        await wait_for_endings(store, "one", 1)
    await store.close()
    assert [each for each in lines if "store" in each] == [
        "the store cannot be used: disk I/O error",
        "the store can be used again",
    ]


async def test_a_prompt_instead_of_an_answer_ends_the_question(store: SqliteStore) -> None:
    @tool(needs_approval=True)
    def wipe() -> str:
        """Delete everything."""
        raise AssertionError

    await begin(store, "one")
    await send(store, "one", "Clean up.")
    agent = Agent(
        ScriptedProvider([call("wipe"), "left"]), tools=[wipe], approvals="wait", store=store
    )
    async with working(store, {"helper": agent}):
        await wait_for_endings(store, "one", 1)
        await wait_for_rest(store, "one")
        await send(store, "one", "Leave it.")
        await wait_for_endings(store, "one", 2)
        info = await wait_for_rest(store, "one")
        assert await agent.questions("one") == []
    assert info.due is None


@tool
async def hang() -> str:
    """Take for ever."""
    await anyio.sleep_forever()
    return ""


# Holds: worker-4
async def test_a_turn_reads_what_is_sent_while_it_runs(store: SqliteStore) -> None:
    @tool
    async def wait() -> str:
        """Wait until a message of the user is here."""
        session = running_session()
        assert session is not None
        steering = session.session.coordinator.get("orchestrator").steering

        async def has_message() -> bool:
            return len(steering) > 0

        await wait_until(has_message)
        return "waited"

    await begin(store, "one")
    await send(store, "one", "Go.")
    agent = Agent(ScriptedProvider([call("wait"), "heard"]), tools=[wait])
    async with working(store, {"helper": agent}):
        await wait_for_event(store, "one", TOOL_START)
        await store.put("one", STEERING, {"text": "Quick!"})
        assert await wait_for_endings(store, "one", 1) == ["success"]
    assert list_texts(await store.read("one"), "user") == ["Go.", "Quick!"]
    assert await store.inbox("one") == []


async def test_a_turn_that_runs_is_cancelled_by_a_row_of_the_inbox(store: SqliteStore) -> None:
    await begin(store, "one")
    await send(store, "one", "Go.")
    agent = Agent(ScriptedProvider([call("hang")]), tools=[hang])
    async with working(store, {"helper": agent}):
        await wait_for_event(store, "one", TOOL_START)
        begun = await wait_for_event(store, "one", EXECUTION_START)
        await store.put("one", STOP, {"turn": begun.number, "now": True}, due=world.time())
        assert await wait_for_endings(store, "one", 1) == ["cancelled"]
        info = await wait_for_rest(store, "one")
    assert (info.due, await store.inbox("one")) == (None, [])


async def test_an_open_turn_that_was_cancelled_ends_without_a_model(store: SqliteStore) -> None:
    @tool(needs_approval=True)
    def wipe() -> str:
        """Delete everything."""
        raise AssertionError

    await begin(store, "one")
    await send(store, "one", "Clean up.")
    agent = Agent(ScriptedProvider([call("wipe")]), tools=[wipe], approvals="wait", store=store)
    async with working(store, {"helper": agent}):
        await wait_for_endings(store, "one", 1)
        await wait_for_rest(store, "one")
        begun = await wait_for_event(store, "one", EXECUTION_START)
        await store.put("one", STOP, {"turn": begun.number, "now": True}, due=world.time())
        assert await wait_for_endings(store, "one", 2) == ["awaiting_approval", "cancelled"]
        info = await wait_for_rest(store, "one")
    assert (info.due, await store.inbox("one")) == (None, [])


# Holds: worker-5
async def test_a_tool_that_blocks_the_event_loop_keeps_the_lease(store: SqliteStore) -> None:
    seen: set[float | None] = set()

    def watch_lease() -> None:
        async def watch() -> None:
            other = SqliteStore(folder=str(store.folder))
            while len(seen) < 4:
                seen.update([each.due for each in await other.sessions()])
            await other.close()

        anyio.run(watch)

    @tool
    async def block() -> str:
        """Hold the event loop until the lease was renewed three times."""
        watching = threading.Thread(target=watch_lease)
        watching.start()
        watching.join()
        return "held"

    await begin(store, "one")
    await send(store, "one", "Go.")
    agent = Agent(ScriptedProvider([call("block"), "done"]), tools=[block])
    async with working(store, {"helper": agent}, lease=0.3):
        assert await wait_for_endings(store, "one", 1) == ["success"]
    (info,) = await store.sessions()
    assert (len(seen), info.epoch) == (4, 2)


# Holds: worker-6
async def test_a_turn_whose_session_another_has_is_cancelled_and_stores_nothing(
    store: SqliteStore,
) -> None:
    lines: list[str] = []
    await begin(store, "one")
    await send(store, "one", "Go.")
    agent = Agent(ScriptedProvider([call("hang"), "never"]), tools=[hang])
    async with working(store, {"helper": agent}, lines, lease=0.3):
        await wait_for_event(store, "one", TOOL_START)
        claim = await store.claim("one", "another")
        before = await store.read("one")

        async def has_lost() -> bool:
            return any("lost" in each for each in lines)

        await wait_until(has_lost)
        assert await store.read("one") == before
        await store.append(claim, [("a", 1)])
    assert lines[-1] == "`one`: lost: another worker has it"


async def test_a_turn_whose_lease_cannot_be_renewed_goes_on_where_nobody_has_taken_it(
    tmp_path: Path,
) -> None:
    lines: list[str] = []

    class DeafStore(SqliteStore):
        """A store that renews nothing while it is deaf."""

        is_deaf = True

        async def renew(self, *given: Any, **options: Any) -> None:
            """Fail, or renew."""
            if self.is_deaf:
                raise StoreError("disk I/O error")
            await super().renew(*given, **options)

    store = DeafStore(folder=str(tmp_path))

    @tool(idempotent=True)
    async def work() -> str:
        """Hang while the store is deaf."""
        if store.is_deaf:
            await anyio.sleep_forever()
        return "worked"

    await begin(store, "one")
    await send(store, "one", "Go.")
    agent = Agent(ScriptedProvider([call("work"), "done"]), tools=[work])
    async with working(store, {"helper": agent}, lines, lease=0.3):

        async def has_stopped() -> bool:
            return any("stopped" in each for each in lines)

        await wait_until(has_stopped)
        store.is_deaf = False
        assert await wait_for_endings(store, "one", 1) == ["success"]
    await store.close()
    assert "`one`: stopped: its lease could not be renewed: disk I/O error" in lines
    assert list_texts(await store.read("one"), "assistant") == ["done"]
    await store.close()


# Holds: worker-7
async def test_a_turn_that_does_not_end_in_time_is_gone_on_with_by_another_worker(
    store: SqliteStore,
) -> None:
    ran: list[str] = []
    gate = anyio.Event()

    @tool(idempotent=True)
    async def work() -> str:
        """Work until the gate is open."""
        ran.append("begun")
        await gate.wait()
        ran.append("ended")
        return "worked"

    await begin(store, "one")
    await send(store, "one", "Go.")
    first = Agent(ScriptedProvider([call("work")]), tools=[work])
    async with working(store, {"helper": first}, grace=0.05) as worker:
        await wait_for_event(store, "one", TOOL_START)
        worker.stop()
        info = await wait_for_rest(store, "one")
        assert info.due is not None
        assert info.due <= world.time()
    gate.set()
    second = Agent(ScriptedProvider(["done"]), tools=[work])
    async with working(store, {"helper": second}):
        assert await wait_for_endings(store, "one", 1) == ["success"]
    assert ran == ["begun", "begun", "ended"]
    assert list_texts(await store.read("one"), "user") == ["Go."]


async def test_turns_that_end_in_time_are_ended_and_no_further_one_begins(
    store: SqliteStore,
) -> None:
    gate = anyio.Event()

    @tool
    async def work() -> str:
        """Work until the gate is open."""
        await gate.wait()
        return "worked"

    await begin(store, "one")
    await send(store, "one", "Go.")
    await send(store, "one", "And then?")
    agent = Agent(ScriptedProvider([call("work"), "done"]), tools=[work])
    async with working(store, {"helper": agent}) as worker:
        await wait_for_event(store, "one", TOOL_START)
        worker.stop()
        gate.set()
    assert list_texts(await store.read("one"), "user") == ["Go."]
    (info,) = await store.sessions()
    assert info.owner is None
    assert info.due is not None


# Holds: worker-8
async def test_a_session_that_fails_waits_and_keeps_no_other_from_running(
    store: SqliteStore,
) -> None:
    lines: list[str] = []
    for id, agent_name in (("bad", "broken"), ("good", "helper")):
        await begin(store, id, agent=agent_name)
        await send(store, id, "Go.")
    agents = {
        "broken": Agent(ScriptedProvider(["no"]), tools=["tool-that-is-missing"]),
        "helper": Agent(ScriptedProvider(["done"])),
    }
    async with working(store, agents, lines):
        assert await wait_for_endings(store, "good", 1) == ["success"]
        await wait_for_rest(store, "bad")
    failed = [each for each in lines if "failed" in each]
    assert len(failed) == 1
    assert failed[0].startswith("`bad`: failed, and waits 1 s: ")
    assert "tool-that-is-missing" in failed[0]
    assert [each.kind for each in await store.inbox("bad")] == ["prompt"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"agents": {}}, "`agents` is empty"),
        ({"lease": 0}, "`lease` is 0"),
        ({"concurrency": 0}, "`concurrency` is 0"),
    ],
)
def test_what_no_worker_can_be_is_said(options: dict[str, Any], text: str) -> None:
    given: dict[str, Any] = {"agents": {"a": Agent(ScriptedProvider([]))}, **options}
    with pytest.raises(ValueError, match=text):
        Worker(given.pop("agents"), "sqlite", **given)
