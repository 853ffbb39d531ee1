"""Sessions as lines of JSON, into another store and back, and as trajectories."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_core import __version__
from amplifier_modules.stores import (
    META,
    NewSession,
    SessionExistsError,
    SessionInfo,
    StoredEvent,
    UnknownSessionError,
)
from amplifier_modules.stores.export import (
    export_session,
    give_new_ids,
    import_sessions,
    read_export,
)
from amplifier_modules.stores.sqlite import SqliteStore
from amplifier_modules.stores.trajectory import make_trajectory

HEAD = '{"format":"amplifier-session","version":1,"id":"a","parent":null,"call":null,"meta":{}}'
FIRST = '{"number":1,"epoch":1,"kind":"session:origin","body":{"meta":{}}}'


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[tuple[SqliteStore, SqliteStore]]:
    """A store, and another one."""
    both = SqliteStore(folder=str(tmp_path / "one")), SqliteStore(folder=str(tmp_path / "two"))
    yield both
    for store in both:
        await store.close()


def message(number: int, role: str, content: str, **more: Any) -> tuple[str, Any]:
    body = {"number": number, "index": number - 1, "source": role}
    return "context:message", {**body, "message": {"role": role, "content": content, **more}}


async def fill(store: SqliteStore) -> None:
    """Store a session with a sub-agent, what JSON cannot hold, a long text and a fork."""
    claim = await store.claim("a", "me", new=NewSession(meta={"title": "One"}))
    claim = await store.append(claim, [message(1, "user", "\ud800 and 🙂", x=float("inf"))])
    claim = await store.append(claim, [message(2, "user", "x" * 100_000)], meta={"title": "Two"})
    child = await store.claim("b", "me", new=NewSession(parent="a", call="a/2", meta={"k": 1}))
    await store.end(await store.append(child, [message(1, "user", "of the sub-agent")]))
    await store.end(await store.append(claim, [("more", [1, None, 2.5])]))
    fork = await store.fork("a", "c", at=2, meta={"title": "Three"})
    claim = await store.claim(fork.id, "me")
    await store.end(await store.append(claim, [("of the fork", {})]))


async def read_all(store: SqliteStore, id: str) -> list[tuple[int, str, Any]]:
    """The events, without the claims that they were written under."""
    return [(each.number, each.kind, each.body) for each in await store.read(id)]


# Holds: store-61
@pytest.mark.anyio
async def test_what_is_exported_is_imported_as_it_was(stores: Any) -> None:
    one, two = stores
    await fill(one)
    exported = [line async for line in export_session(one, "a")]
    assert all("\n" not in line for line in exported)
    assert await import_sessions(two, read_export(exported)) == ["a", "b"]
    for id in ("a", "b"):
        assert await read_all(two, id) == await read_all(one, id)
    found = {
        each.id: (each.parent, each.call, each.meta, each.owner) for each in await two.sessions()
    }
    assert found == {"a": (None, None, {"title": "Two"}, None), "b": ("a", "a/2", {"k": 1}, None)}


@pytest.mark.anyio
async def test_a_fork_is_imported_with_what_it_has_of_its_origin(stores: Any) -> None:
    one, two = stores
    await fill(one)
    exported = [line async for line in export_session(one, "c")]
    assert await import_sessions(two, read_export(exported)) == ["c"]
    assert (await read_all(two, "c"))[:4] == await read_all(one, "c")
    # It says what the fork is called, which its first event of its own did.
    assert (await read_all(two, "c"))[4:] == [(5, META, {"title": "Three"})]


@pytest.mark.anyio
async def test_an_import_is_whole_or_not_there(stores: Any) -> None:
    one, two = stores
    await fill(one)
    exported = read_export([line async for line in export_session(one, "a")])
    await two.end(await two.claim("b", "me", new=NewSession()))
    with pytest.raises(SessionExistsError):
        await import_sessions(two, exported)
    assert [each.id for each in await two.sessions()] == ["b"]
    of_fork = read_export([line async for line in export_session(one, "c")])
    with pytest.raises(SessionExistsError):
        await import_sessions(two, [*of_fork, *exported])
    assert [each.id for each in await two.sessions()] == ["b"]
    ids = await import_sessions(two, give_new_ids(exported))
    assert {"a", "b"}.isdisjoint(ids)
    assert {each.id: each.parent for each in await two.sessions()} == {
        "b": None, ids[0]: None, ids[1]: ids[0],
    }  # fmt: skip


@pytest.mark.anyio
async def test_what_is_behind_a_number_is_left_out(stores: Any) -> None:
    one, _ = stores
    await fill(one)
    lines = [line async for line in export_session(one, "a", until=2)]
    assert [json.loads(line).get("number") for line in lines] == [None, 1, 2]
    with pytest.raises(UnknownSessionError):
        [line async for line in export_session(one, "nobody")]


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([], "there is no line (must be an export of a session)"),
        (
            ["{"],
            "line 1 is not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
        ),
        (["[]"], "line 1 is no object (must be an object of an export)"),
        ([FIRST], "line 1 does not begin a session (must have `format`, `amplifier-session`)"),
        (['{"format":"x"}'], "line 1 has the format `x` (must be `amplifier-session`)"),
        ([HEAD.replace(":1,", ":2,")], "line 1 has version 2, and this one reads 1"),
        (
            [HEAD.replace('"a"', "1")],
            "line 1 has no `id` and `meta` (must be a text and an object)",
        ),
        ([HEAD.replace("null", "1", 1)], "line 1 has a `parent` or a `call` that is no text"),
        ([HEAD], "session `a` has no first event that says its `meta`"),
        (
            [HEAD, "", FIRST.replace("1", "2", 1)],
            "line 3 has event 2 (must be 1: none is left out)",
        ),
        ([HEAD, '{"number":1}'], "line 2 has no `kind`, `epoch` and `body`"),
        (
            [HEAD, FIRST, '{"number":2,"epoch":1,"kind":"context:message","body":{}}'],
            "session `a` has an event that is none: KeyError: 'message'",
        ),
    ],
)
def test_lines_that_are_no_export_are_refused(lines: list[str], problem: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 -- the whole text is compared
        read_export(lines)
    assert str(caught.value) == problem


def test_a_trajectory_has_steps_with_calls_results_and_figures() -> None:
    usage = {"input_tokens": 10, "output_tokens": 4, "cache_read_tokens": 3, "cost_usd": "0.25"}
    call = {"id": "t1", "tool": "ask", "arguments": {"x": 1}}
    thinking = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "I ask."}]
    bodies = [
        message(1, "user", "Go"),
        ("llm:post", {"model": "m-1", "usage": usage}),
        ("llm:post", {"model": "helper", "usage": usage, "purpose": "goal_judge"}),
        message(2, "assistant", thinking, tool_calls=[call]),  # type: ignore[arg-type] -- blocks
        ("tool:start", {"tool_call_id": "t1", "tool_name": "ask", "key": "a/6"}),
        message(3, "tool", "Yes", tool_call_id="t1", name="ask"),
        message(4, "user", "Go on", metadata={"source": "hook"}),
        ("llm:post", {"model": "m-2", "usage": None}),
        message(5, "assistant", "Done"),
    ]
    events = [StoredEvent(number, 1, *each) for number, each in enumerate(bodies, 2)]
    child = SessionInfo(
        id="b", parent="a", call="a/6", base=None, base_number=0, epoch=1, head=1, owner=None,
        due=None, written=0, meta={},
    )  # fmt: skip
    metrics = {"prompt_tokens": 10, "completion_tokens": 4, "cached_tokens": 3, "cost_usd": 0.25}
    result = {
        "source_call_id": "t1",
        "content": "Yes",
        "subagent_trajectory_ref": [{"session_id": "b"}],
    }
    assert make_trajectory("a", events, [child]) == {
        "schema_version": "ATIF-v1.4",
        "session_id": "a",
        "agent": {"name": "amplifier-core", "version": __version__, "model_name": "m-2"},
        "steps": [
            {"step_id": 1, "source": "user", "message": "Go"},
            {
                "step_id": 2,
                "source": "agent",
                "message": "I ask.",
                "reasoning_content": "Hm.",
                "tool_calls": [
                    {"tool_call_id": "t1", "function_name": "ask", "arguments": {"x": 1}}
                ],
                "model_name": "m-1",
                "metrics": metrics,
                "observation": {"results": [result]},
            },
            {"step_id": 3, "source": "system", "message": "Go on"},
            {"step_id": 4, "source": "agent", "message": "Done", "model_name": "m-2"},
        ],
        "final_metrics": {
            "total_prompt_tokens": 10,
            "total_completion_tokens": 4,
            "total_cached_tokens": 3,
            "total_cost_usd": 0.25,
            "total_steps": 4,
        },
    }
