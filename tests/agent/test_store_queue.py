"""Prompts that other processes send to a stored session: each is one turn, after any crash."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from copied_store import CopiedStore

from amplifier_agent import Agent, ScriptedProvider
from amplifier_modules.stores import UnknownSessionError


def store_in(folder: Path) -> dict[str, Any]:
    return {"module": "store-sqlite", "config": {"folder": str(folder)}}


def list_users(messages: list[dict[str, Any]]) -> list[str]:
    return [each["content"] for each in messages if each["role"] == "user"]


# Holds: store-64
async def test_a_queued_prompt_is_one_turn_after_any_crash(tmp_path: Path) -> None:
    store = CopiedStore(tmp_path / "now")
    agent = Agent(ScriptedProvider(["Yes."] * 3), store=store)
    async with agent.session(session_id="chat") as session:
        await session.run("One?")
        await agent.queue("chat", "Two?")
        await agent.queue("chat", "Three?")
        acknowledged = store.copy()
        await session.run_queued()
        result = await session.run_queued()
        assert result is not None
        assert await session.run_queued() is None
    await store.close()
    assert list_users(result.messages) == ["One?", "Two?", "Three?"]
    for copy in store.copies[acknowledged:]:
        again = Agent(ScriptedProvider(["Yes."] * 3), store=store_in(copy))
        async with again.session(session_id="chat") as session:
            last = await session.resume_turn() if session.has_open_turn else None
            while (queued := await session.run_queued()) is not None:
                last = queued
            last = last or await session.run("More?")
        assert [each for each in list_users(last.messages) if each != "More?"] == [
            "One?",
            "Two?",
            "Three?",
        ]


async def test_a_prompt_for_no_session_is_refused(tmp_path: Path) -> None:
    agent = Agent(ScriptedProvider(["Yes."]), store=store_in(tmp_path))
    with pytest.raises(UnknownSessionError):
        await agent.queue("chat", "Two?")
    with pytest.raises(ValueError, match="`prompt` is empty"):
        await agent.queue("chat", " ")
    async with agent.session(session_id="chat") as session:
        await session.run("One?")
        assert await session.run_queued() is None
