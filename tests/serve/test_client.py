"""A client does the same on a store and on a server, whichever worker runs the turns."""

from __future__ import annotations

import sys
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from hashlib import sha512
from pathlib import Path
from typing import Any

import anyio
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from serving import client_of, serving
from working import begin, wait_until, working

from amplifier_agent import Agent, ScriptedProvider, tool
from amplifier_core.events import EXECUTION_START
from amplifier_modules.loops.boundary.call_context import TOOL_START
from amplifier_modules.stores import UnknownSessionError
from amplifier_modules.stores.sqlite import SqliteStore
from amplifier_serve import Client, ServeError, SessionEvent, Submission, TokenFile

KINDS = pytest.mark.parametrize("kind", ["store", "server"])


@tool(needs_approval=True)
def wipe() -> str:
    """Delete everything."""
    return "gone"


@tool
async def hang() -> str:
    """Take for ever."""
    await anyio.sleep_forever()
    return ""


def make_agent(*script: Any) -> Agent:
    return Agent(ScriptedProvider(script), tools=[wipe, hang], approvals="wait")


def call(name: str) -> dict[str, Any]:
    return {"tool": name, "arguments": {}}


async def follow_turn(client: Client, sent: Submission) -> list[SessionEvent]:
    """Return the events up to the end of the turn of a prompt."""
    return [event async for event in client.follow_turn(sent)]


async def follow_until(client: Client, session_id: str, kind: str) -> SessionEvent:
    async with aclosing(client.follow(session_id)) as events:
        async for event in events:
            if event.kind == kind:
                return event
    raise AssertionError


# Holds: serve-1
@KINDS
async def test_a_prompt_is_run_by_a_worker_and_its_events_are_followed(
    kind: str, store: SqliteStore, tmp_path: Path
) -> None:
    async with (
        client_of(kind, store, tmp_path) as client,
        working(store, {"helper": make_agent("Hello, Ann.", "Ann.\u2028 Bob? ü")}),
    ):
        sent = await client.submit("My name is Ann.", agent="helper")
        events = await follow_turn(client, sent)
        assert "".join(each.text for each in events) == "Hello, Ann."
        again = await client.submit("What is my name?", session_id=sent.session_id)
        later = await follow_turn(client, again)
        assert "".join(each.text for each in later) == "Ann.\u2028 Bob? ü"
        numbers = [each.number for each in (*events, *later)]
        assert numbers == list(range(2, 2 + len(numbers)))
        started = [each for each in later if each.kind == EXECUTION_START]
        assert [each.data["entry"] for each in started] == [again.entry]
        assert await client.read(sent.session_id, sent.number) == events + later
        (summary,) = await client.list()
    assert (summary.id, summary.agent, summary.title) == (
        sent.session_id,
        "helper",
        "My name is Ann.",
    )


# Holds: serve-2
@KINDS
async def test_questions_are_answered_and_turns_steered_and_cancelled(
    kind: str, store: SqliteStore, tmp_path: Path
) -> None:
    script = (call("wipe"), "wiped", call("hang"), "never")
    async with (
        client_of(kind, store, tmp_path) as client,
        working(store, {"helper": make_agent(*script)}),
    ):
        sent = await client.submit("Clean up.", agent="helper")
        id = sent.session_id
        (question,) = await wait_until(lambda: client.questions(id))
        assert (question.tool_name, question.action) == ("wipe", "run `wipe`?")
        await client.answer(id, question.id, True)
        events = await follow_turn(client, sent)
        assert events[-1].status == "success"
        with pytest.raises(LookupError, match="waits for an answer"):
            await client.answer(id, question.id, False)
        with pytest.raises(LookupError, match="no turn of session"):
            await client.cancel(id)
        sent = await client.submit("Hang.", session_id=id)
        await wait_until(lambda: has_started(client, id, sent.number))
        await client.steer(id, "Still there?")
        await client.cancel(id)
        events = await follow_turn(client, sent)
        assert events[-1].status == "cancelled"


async def has_started(client: Client, id: str, since: int) -> bool:
    return any(each.kind == TOOL_START for each in await client.read(id, since))


# Holds: serve-3
@KINDS
async def test_an_owner_has_his_own_sessions_alone(
    kind: str, store: SqliteStore, tmp_path: Path
) -> None:
    async with Client(store, owner="bob") as bob:
        theirs = (await bob.submit("Mine.", agent="helper")).session_id
    await begin(store, "nobody's")
    async with client_of(kind, store, tmp_path) as client:
        assert await client.list() == []
        uses: tuple[Callable[[str], Awaitable[object]], ...] = (
            lambda id: client.submit("Hi.", session_id=id),
            client.read,
            lambda id: client.steer(id, "Hi."),
            client.cancel,
            client.questions,
            lambda id: client.answer(id, "q", True),
            lambda id: follow_until(client, id, "none"),
        )
        for id in (theirs, "nobody's", "unknown"):
            for use in uses:
                with pytest.raises(UnknownSessionError, match=f"no session `{id}` is stored"):
                    await use(id)


@KINDS
async def test_a_follower_reads_why_a_turn_has_failed_without_its_secrets(
    kind: str, store: SqliteStore, tmp_path: Path
) -> None:
    key = "sk-ant-api03-" + urlsafe_b64encode(sha512(b"made up").digest()).decode().rstrip("=")
    error = RuntimeError(f"401 for\n{key}")
    async with (
        client_of(kind, store, tmp_path) as client,
        working(store, {"helper": make_agent(error, "better")}),
    ):
        first = await client.submit("Go.", agent="helper")
        second = await client.submit("Again.", session_id=first.session_id)
        *_, ended, failed = await follow_turn(client, first)
        assert (ended.status, failed.kind) == ("incomplete", "turn:failed")
        assert failed.data["error"].startswith("401 for ")
        assert key[-20:] not in failed.data["error"]
        events = await follow_turn(client, second)
        assert [each.text for each in events if each.text] == ["better"]
        assert events[-1].status == "success"


@KINDS
async def test_what_cannot_be_sent_is_said(kind: str, store: SqliteStore, tmp_path: Path) -> None:
    async with client_of(kind, store, tmp_path) as client:
        with pytest.raises(ValueError, match="`prompt` is empty"):
            await client.submit(" ", agent="helper")
        sent = await client.submit("Hi.", agent="helper")
        with pytest.raises(ValueError, match="give none"):
            await client.submit("Hi.", session_id=sent.session_id, agent="other")
        with pytest.raises(ValueError, match="`text` is empty"):
            await client.steer(sent.session_id, "")
        with pytest.raises(LookupError, match="no turn of session"):
            await client.cancel(sent.session_id)


# Holds: serve-4
async def test_a_follower_that_loses_its_server_goes_on_without_a_gap_or_a_double(
    store: SqliteStore, tmp_path: Path
) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    token, _ = tokens.add("ann")
    events: list[SessionEvent] = []
    agent = make_agent("one", "two")

    async def follow(client: Client, id: str) -> None:
        async for event in client.follow(id):
            events.append(event)
            if event.ends_turn and len([each for each in events if each.ends_turn]) == 2:
                return

    async with serving(store, tokens) as address:
        port = int(address.rpartition(":")[2])
        client = await Client(address, token=token).__aenter__()
        sent = await client.submit("First.", agent="helper")
        id = sent.session_id
        async with anyio.create_task_group() as first:
            first.start_soon(follow, client, id)
            async with working(store, {"helper": agent}):
                await wait_until(lambda: has_endings(events, 1))
            first.cancel_scope.cancel()
    del events[-1:]
    known = events[-1].number
    async with anyio.create_task_group() as tasks:

        async def follow_further() -> None:
            async for event in client.follow(id, known):
                events.append(event)
                if len([each for each in events if each.ends_turn]) == 2:
                    return

        tasks.start_soon(follow_further)
        async with serving(store, tokens, port):
            await wait_until(lambda: has_endings(events, 1))
        async with serving(store, tokens, port), working(store, {"helper": agent}):
            await client.submit("Second.", session_id=id)
            await wait_until(lambda: has_endings(events, 2))
    await client.__aexit__()
    assert [each.number for each in events] == list(range(1, len(events) + 1))
    assert events == await read_all(store, id)


async def has_endings(events: list[SessionEvent], count: int) -> bool:
    return len([each for each in events if each.ends_turn]) >= count


async def read_all(store: SqliteStore, id: str) -> list[SessionEvent]:
    return [SessionEvent(each.number, each.kind, each.body) for each in await store.read(id)]


async def test_a_server_that_is_not_there_is_an_error_in_one_line() -> None:
    async with Client("http://127.0.0.1:9", token="t" * 20) as client:
        with pytest.raises(ServeError, match=r"`http://127\.0\.0\.1:9` cannot be reached"):
            await client.list()


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (("http://localhost:1", {}), "a server needs a `token`"),
        (("sqlite", {"token": "t"}), "`token` has no effect on a store"),
        (("http://localhost:1", {"token": "t", "owner": "ann"}), "`owner` has no effect"),
    ],
)
def test_what_no_client_can_be_is_said(given: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        Client(given[0], **given[1])


async def test_a_client_is_used_within_its_block() -> None:
    with pytest.raises(RuntimeError, match="the client is not open"):
        await Client("sqlite").list()
