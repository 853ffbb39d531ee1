"""What models were asked is stored as digests of its parts, before they are asked."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pydantic_core import to_json

from amplifier_agent import Agent, ScriptedProvider, tool
from amplifier_core.message_models import ChatRequest, Message
from amplifier_modules.stores import NewSession
from amplifier_modules.stores import digests as digests_module
from amplifier_modules.stores.digests import digest_request
from amplifier_modules.stores.journal import Journal
from amplifier_modules.stores.sqlite import SqliteStore


@tool
def look(place: str) -> str:
    """Look."""
    return f"seen {place}"


async def read_requests(store: SqliteStore) -> list[dict[str, Any]]:
    """What is stored of the requests of the session, but for their times, which are in order."""
    bodies = [dict(each.body) for each in await store.read("chat") if each.kind == "llm:request"]
    times = [each.pop("timestamp") for each in bodies]
    assert times == sorted(times)
    return bodies


# Holds: store-62
async def test_each_request_is_stored_as_digests_before_it_is_sent(tmp_path: Path) -> None:
    store = SqliteStore(folder=str(tmp_path))
    stored: list[list[str]] = []

    def answer(_: ChatRequest) -> Any:
        with closing(sqlite3.connect(tmp_path / "chat.sessions")) as file:
            rows = file.execute("SELECT kind FROM event ORDER BY seq").fetchall()
        stored.append([kind for (kind,) in rows])
        return "Seen." if len(stored) > 1 else {"tool": "look", "arguments": {"place": "a"}}

    model = ScriptedProvider([answer, answer])
    agent = Agent(model, tools=[look], system="Be brief.", store=store)
    async with agent.session(session_id="chat") as session:
        await session.run("Go")
    assert [kinds[-1] for kinds in stored] == ["llm:request", "llm:request"]
    bodies = await read_requests(store)
    assert bodies == [
        {"provider": model.name, "model": body["model"], **digest_request(request)}
        for body, request in zip(bodies, model.requests, strict=True)
    ]
    first, second = bodies
    assert [name for name in first if first[name] != second[name]] == ["messages", "message_count"]
    await store.close()


async def test_a_request_beside_the_conversation_does_not_have_it_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore(folder=str(tmp_path))
    journal = Journal(store, "chat", "me", NewSession())
    message = Message(role="user", content="Go")
    request, aside = ChatRequest(messages=[]), ChatRequest(messages=[])
    request.messages.append(message)
    aside.messages.append(Message(role="user", content="Was it reached?"))
    await journal.store_request({}, request)
    await journal.store_request({"purpose": "goal"}, aside)
    encoded: list[Any] = []

    def encode(part: Any, **options: Any) -> bytes:
        encoded.append(part)
        return to_json(part, **options)

    monkeypatch.setattr(digests_module, "to_json", encode)
    await journal.store_request({}, request)
    assert message not in encoded

    bodies = await read_requests(store)
    digests, beside = digest_request(request), {"purpose": "goal", **digest_request(aside)}
    assert bodies == [digests, beside, digests]
    await journal.end()
    await store.close()


def test_the_digests_are_of_parts_that_json_cannot_hold_too() -> None:
    def digest(content: str, **more: Any) -> dict[str, Any]:
        messages = [
            Message(role="system", content="Be brief."),
            Message(role="user", content=content, metadata=more),
        ]
        return digest_request(ChatRequest(messages=messages))

    plain, half, odd = digest("Go"), digest("\ud800"), digest("Go", x=object)
    assert {each["system"] for each in (plain, half, odd)} == {plain["system"]}
    assert len({each["messages"] for each in (plain, half, odd)}) == 3
    assert {len(each["messages"]) for each in (plain, half, odd)} == {64}
    assert digest("Go") == plain
