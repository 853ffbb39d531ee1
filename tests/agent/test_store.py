"""Sessions that are stored go on in another process, and lose nothing that was acknowledged."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from amplifier_agent import Agent, ScriptedProvider, ToolContext, hook, tool
from amplifier_core.llm_errors import ConfigurationError
from amplifier_modules.stores import DamagedSessionError, StaleOwnerError, StoreError
from amplifier_modules.stores.sqlite import SqliteStore


def store_in(folder: Path) -> dict[str, Any]:
    return {"module": "store-sqlite", "config": {"folder": str(folder)}}


def talk(*script: Any, **options: Any) -> tuple[Agent, ScriptedProvider]:
    model = ScriptedProvider(script)
    return Agent(model, **options), model


def texts(messages: Any) -> list[Any]:
    return [
        (each.role, each.content if isinstance(each.content, str) else each.content[0].text)
        for each in messages
    ]


# Holds: store-4
async def test_a_conversation_goes_on_where_it_ended(tmp_path: Path) -> None:
    first, _ = talk("Hello Ada.", store=store_in(tmp_path))
    async with first.session(session_id="chat") as session:
        before = await session.run("I am Ada.")
    seen: list[str] = []

    @hook("*")
    def note(event: str, data: dict[str, Any]) -> None:
        seen.append(event)

    second, model = talk("Ada.", store=store_in(tmp_path), hooks=[note])
    async with second.session(session_id="chat") as session:
        after = await session.run("Who am I?")
    assert texts(model.requests[0].messages) == [
        ("user", "I am Ada."),
        ("assistant", "Hello Ada."),
        ("user", "Who am I?"),
    ]
    assert after.messages[:2] == before.messages
    assert "session:resume" in seen
    assert "session:start" not in seen
    assert seen.count("context:message") == 2


async def test_a_program_may_give_the_store_itself(tmp_path: Path) -> None:
    store = SqliteStore(folder=str(tmp_path))
    for prompt, expected in (("one", 2), ("two", 4)):
        agent, _ = talk("Yes.", store=store)
        async with agent.session(session_id="chat") as session:
            assert len((await session.run(prompt)).messages) == expected
            assert session.session.is_resumed is (expected == 4)
    (info,) = await store.sessions()
    assert (info.id, info.owner, info.meta["title"]) == ("chat", None, "one")
    await store.close()


MODULE = """
from amplifier_modules.stores.mounting import mount_store
from amplifier_modules.stores.sqlite import SqliteStore

__amplifier_module_type__ = "hook"


async def mount(coordinator, config):
    store = SqliteStore(config)
    end = await mount_store(coordinator, store)

    async def close():
        await end()
        await store.close()

    return close
"""


async def test_the_store_of_another_is_listed_by_the_id_of_its_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "amplifier_module_store_other.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    entry = {"module": "store-other", "config": {"folder": str(tmp_path / "sessions")}}
    agent, _ = talk("Yes.", store=entry)
    async with agent.session(session_id="chat") as session:
        await session.run("one")
    assert [each.id for each in await agent.sessions()] == ["chat"]
    assert await agent.questions("chat") == []
    nowhere, _ = talk(store={"module": "store-nowhere"})
    with pytest.raises(ConfigurationError, match="'store-nowhere' not found"):
        await nowhere.sessions()
    no_store, _ = talk(store={"module": "hooks-guard"})
    with pytest.raises(ConfigurationError, match="is no store: it registers no"):
        await no_store.sessions()


async def test_a_session_without_a_turn_leaves_nothing(tmp_path: Path) -> None:
    agent, _ = talk(store=store_in(tmp_path / "sessions"))
    async with agent.session():
        pass
    assert os.listdir(tmp_path) == []


async def test_a_stored_session_has_its_own_messages(tmp_path: Path) -> None:
    agent, _ = talk("Yes.", store=store_in(tmp_path))
    async with agent.session(session_id="chat") as session:
        await session.run("one")
    given = [{"role": "user", "content": "zero"}]
    with pytest.raises(ConfigurationError, match="goes on with its own messages"):
        async with agent.session(session_id="chat", messages=given):
            pass


# Holds: store-1, store-5
async def test_a_call_that_a_crash_left_open_is_not_run_again(tmp_path: Path) -> None:
    runs: list[str] = []

    @tool
    def pay(amount: int) -> str:
        """Pay."""
        runs.append(f"paid {amount}")
        shutil.copytree(tmp_path / "now", tmp_path / "crashed")
        return "paid"

    calls = [{"tool": "pay", "arguments": {"amount": 1}}]
    agent, _ = talk(*calls, "Done.", tools=[pay], store=store_in(tmp_path / "now"))
    async with agent.session(session_id="chat") as session:
        await session.run("Pay 1.")
    again, model = talk("I do not know.", tools=[pay], store=store_in(tmp_path / "crashed"))
    async with again.session(session_id="chat") as session:
        result = await session.run("Did you pay?")
    assert runs == ["paid 1"]
    roles = [each.role for each in model.requests[0].messages]
    assert roles == ["user", "assistant", "tool", "user"]
    answer = result.messages[2]
    assert answer["metadata"]["outcome"] == "unknown"
    assert "outcome of this call is unknown" in answer["content"]


# Holds: store-2
async def test_a_session_that_cannot_be_stored_runs_no_tool(tmp_path: Path) -> None:
    runs: list[str] = []

    @tool
    def pay() -> str:
        """Pay."""
        runs.append("paid")
        return "paid"

    class Full(SqliteStore):
        async def append(self, claim: Any, events: Any, **options: Any) -> Any:
            if any(kind == "tool:start" for kind, _ in events):
                raise StoreError("the disk is full")
            return await super().append(claim, events, **options)

    store = Full(folder=str(tmp_path))
    agent, model = talk({"tool": "pay", "arguments": {}}, "Done.", tools=[pay], store=store)
    async with agent.session(session_id="chat") as session:
        with pytest.raises(StoreError, match="the disk is full"):
            await session.run("Pay.")
        assert session.last is not None
        assert session.last.status == "error"
    assert runs == []
    assert len(model.requests) == 1
    assert [each.kind for each in await store.read("chat")].count("tool:start") == 0
    await store.close()


@pytest.mark.parametrize("is_object", [False, True])
async def test_what_a_store_says_of_a_session_is_raised_as_it_is(
    tmp_path: Path, is_object: bool
) -> None:
    (tmp_path / "chat.sessions").write_text("no file of sessions " * 300)
    store: Any = SqliteStore(folder=str(tmp_path)) if is_object else store_in(tmp_path)
    agent, model = talk("one", store=store)
    with pytest.raises(DamagedSessionError, match="`chat` is damaged: file is not a database"):
        async with agent.session(session_id="chat"):
            pass
    assert model.requests == []


# Holds: store-3
async def test_a_session_that_was_taken_over_stops(tmp_path: Path) -> None:
    agent, model = talk("one", "two", "three", store=store_in(tmp_path))
    async with agent.session(session_id="chat") as stale:
        await stale.run("a")
        async with agent.session(session_id="chat") as fresh:
            await fresh.run("b")
        with pytest.raises(StaleOwnerError, match="`chat` was taken over"):
            await stale.run("c")
    assert len(model.requests) == 2
    store = SqliteStore(folder=str(tmp_path))
    messages = [each.body["message"] for each in await store.read("chat") if "message" in each.kind]
    await store.close()
    assert [each["content"] for each in messages if each["role"] == "user"] == ["a", "b"]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="lists open files by `/proc`")
async def test_no_session_leaves_a_file_open(tmp_path: Path) -> None:
    def list_open() -> list[str]:
        files = []
        for each in Path("/proc/self/fd").iterdir():
            with suppress(FileNotFoundError):
                files.append(os.readlink(each))
        return [each for each in files if each.startswith(str(tmp_path))]

    agent, _ = talk("one", "two", store=store_in(tmp_path))
    async with agent.session(session_id="chat") as stale:
        stale.steer("Be brief.")  # which begins it
        await stale.run("a")
        assert list_open() != []
        async with agent.session(session_id="chat") as fresh:
            await fresh.run("b")
        with pytest.raises(StaleOwnerError):
            await stale.run("c")
    assert list_open() == []
    with closing(sqlite3.connect(tmp_path / "chat.sessions")) as connection:
        connection.execute("UPDATE event SET body = '{}' WHERE seq = 3")
        connection.commit()
    (tmp_path / "none.sessions").write_text("no file of sessions " * 300)
    for id in ("chat", "none"):
        with pytest.raises(DamagedSessionError):
            async with agent.session(session_id=id):
                pass
    assert list_open() == []


# Holds: store-10
async def test_sub_agents_are_stored_with_their_session(tmp_path: Path) -> None:
    script = [{"tool": "task", "arguments": {"prompt": "Look."}}, "Found.", "Done."]
    agent, _ = talk(*script, tools=["tool-task"], store=store_in(tmp_path))
    async with agent.session(session_id="chat") as session:
        result = await session.run("Find it.")
    assert '"answer": "Found."' in result.messages[2]["content"]
    assert result.text == "Done."
    store = SqliteStore(folder=str(tmp_path))
    infos = {each.id: each for each in await store.sessions()}
    await store.close()
    (child,) = (each for each in infos.values() if each.id != "chat")
    assert child.parent == "chat"
    files = [name for name in os.listdir(tmp_path) if name.endswith(".sessions")]
    assert files == ["chat.sessions"]


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ("sqlit", ConfigurationError, "did you mean `sqlite`"),
        (3, TypeError, "`store` is `int`"),
        (SqliteStore, TypeError, "`store` is `SqliteStore`"),
        ({"config": {}}, TypeError, "has no `module`"),
    ],
)
def test_what_is_no_store_is_refused(given: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Agent("demo", store=given)


def crash_in_a_tool(tmp_path: Path, *, idempotent: bool) -> tuple[Any, list[tuple[str, int]]]:
    """Return a tool during whose first run the store is copied, and the keys and epochs of its runs."""
    runs: list[tuple[str, int]] = []

    @tool(idempotent=idempotent)
    def pay(context: ToolContext, amount: int) -> str:
        """Pay."""
        runs.append((context.key, context.epoch))
        if len(runs) == 1:
            shutil.copytree(tmp_path / "now", tmp_path / "crashed")
        return "paid"

    return pay, runs


# Holds: store-5
@pytest.mark.parametrize("idempotent", [False, True])
async def test_an_open_turn_goes_on_without_its_prompt_said_twice(
    tmp_path: Path, idempotent: bool
) -> None:
    pay, runs = crash_in_a_tool(tmp_path, idempotent=idempotent)
    call = {"tool": "pay", "arguments": {"amount": 1}}
    agent, _ = talk(call, "Done.", tools=[pay], store=store_in(tmp_path / "now"))
    async with agent.session(session_id="chat") as session:
        await session.run("Pay 1.")
        with pytest.raises(RuntimeError, match="`chat` has no turn that was left open"):
            await session.resume_turn()
    again, model = talk("Done.", tools=[pay], store=store_in(tmp_path / "crashed"))
    async with again.session(session_id="chat") as session:
        assert session.has_open_turn
        result = await session.resume_turn()
        assert not session.has_open_turn
        with pytest.raises(RuntimeError, match="no turn that was left open"):
            await session.resume_turn()
    (request,) = model.requests
    assert [each.role for each in request.messages] == ["user", "assistant", "tool"]
    assert result.text == "Done."
    outcome = result.messages[2].get("metadata", {}).get("outcome")
    key, epoch = runs[0]
    assert (key.startswith("chat/"), epoch) == (True, 1)
    assert (runs[1:], outcome) == ([(key, 2)], None) if idempotent else ([], "unknown")


async def test_calls_of_a_session_without_a_store_have_the_epoch_zero() -> None:
    seen: list[tuple[str, int]] = []

    @tool
    def look(context: ToolContext) -> str:
        """Look."""
        seen.append((context.key, context.epoch))
        return "seen"

    agent, _ = talk({"tool": "look", "arguments": {}}, "Done.", tools=[look])
    async with agent.session(session_id="chat") as session:
        await session.run("Look.")
    assert seen == [("chat/call_1", 0)]


async def test_texts_that_were_put_aside_can_be_read_after_a_resume(tmp_path: Path) -> None:
    text = "\n".join(f"line {number}" for number in range(20_000))

    @tool
    def look() -> str:
        """Look."""
        return text

    context = {"module": "context-simple", "config": {"put_aside_bytes": 8_192}}
    options = {"tools": [look], "store": store_in(tmp_path), "context": context}
    agent, _ = talk({"tool": "look", "arguments": {}}, "Seen.", **options)
    async with agent.session(session_id="chat") as session:
        result = await session.run("Look.")
    (id,) = re.findall("stored as `([0-9a-f]{16})`", result.messages[2]["content"])
    call = {"tool": "read_stored", "arguments": {"id": id, "search": "line 12345"}}
    again, model = talk(call, "Found.", **options)
    async with again.session(session_id="chat") as session:
        await session.run("Find it.")
    assert "line 12345" in str(model.requests[1].messages[-1].content)
    store = SqliteStore(folder=str(tmp_path))
    kinds = [each.kind for each in await store.read("chat")]
    await store.close()
    assert kinds.count("context:put_aside") == 1


# Holds: store-7
async def test_a_fork_goes_on_by_itself(tmp_path: Path) -> None:
    agent, model = talk("one", "two", "three", store=store_in(tmp_path))
    async with agent.session(session_id="chat") as session:
        await session.run("a")
        (info,) = await agent.sessions()
        async with await session.fork() as fork, await session.fork(at=2) as early:
            await fork.run("b")
            await early.run("c")
    forked, begun = model.requests[1], model.requests[2]
    assert texts(forked.messages) == [("user", "a"), ("assistant", "one"), ("user", "b")]
    assert texts(begun.messages) == [("user", "c")]
    bases = {each.id: (each.base, each.base_number) for each in await agent.sessions()}
    assert bases == {"chat": (None, 0), fork.id: ("chat", info.head), early.id: ("chat", 2)}


async def test_what_is_not_stored_cannot_be_listed_or_forked() -> None:
    agent, _ = talk()
    with pytest.raises(ConfigurationError, match="the agent has no store"):
        await agent.sessions()
    async with agent.session(session_id="chat") as session:
        with pytest.raises(RuntimeError, match="`chat` is not stored"):
            await session.fork()
