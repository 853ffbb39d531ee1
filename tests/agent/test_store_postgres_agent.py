"""Agents whose sessions are in PostgreSQL.

Holds: postgres-9
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from postgres_fixture import Database

from amplifier_agent import Agent, ScriptedProvider, tool
from amplifier_modules.stores import StaleOwnerError
from amplifier_modules.stores.postgres import PostgresStore, open_store

pytestmark = pytest.mark.xdist_group("postgres")


@tool(needs_approval=True)
def send(to: str) -> str:
    """Send the report."""
    return f"sent to {to}"


def run(dsn: str, check: Any) -> None:
    async def run_check() -> None:
        try:
            await check()
        finally:
            await open_store({"dsn": dsn}).close()

    asyncio.run(run_check())


def test_a_session_goes_on_by_the_address_alone(postgres: Database) -> None:
    async def check() -> None:
        for answer in ("Hello, Ann.", "Ann."):
            agent = Agent(ScriptedProvider([answer]), store=postgres.dsn)
            async with agent.session(session_id="ann") as session:
                result = await session.run("My name is Ann.")
        assert (result.text, len(result.messages)) == ("Ann.", 4)
        assert [each.id for each in await agent.sessions()] == ["ann"]
        assert "s3cret" not in repr(agent.plan)

    run(postgres.dsn, check)


def test_the_address_may_be_a_variable(
    postgres: Database,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DATABASE_URL", postgres.dsn)

    async def check() -> None:
        result = await Agent(ScriptedProvider(["Hello."]), store="postgres").run("Hi")
        stored = await open_store({"dsn": postgres.dsn}).sessions()
        assert result.session_id in [each.id for each in stored]

    run(postgres.dsn, check)


def test_a_question_is_answered_by_another_process(
    postgres: Database,
    tmp_path: Path,
) -> None:
    def make_agent(*script: Any) -> Agent[Any]:
        store = PostgresStore(dsn=postgres.dsn, tenant=str(tmp_path))
        stores.append(store)
        return Agent(ScriptedProvider(script), tools=[send], approvals="wait", store=store)

    stores: list[PostgresStore] = []

    async def check() -> None:
        asked = await make_agent({"tool": "send", "arguments": {"to": "Ann"}}).run("Send it")
        assert asked.status == "awaiting_approval"
        (question,) = await make_agent().questions(asked.session_id)
        await make_agent().answer(asked.session_id, question.id, True)
        async with make_agent("It is sent.").session(session_id=asked.session_id) as session:
            result = await session.resume_turn()
        assert (result.status, result.text) == ("completed", "It is sent.")
        for each in stores:
            await each.close()

    asyncio.run(check())


def test_whoever_had_a_session_before_runs_no_turn(
    postgres: Database,
    tmp_path: Path,
) -> None:
    async def check() -> None:
        store = PostgresStore(dsn=postgres.dsn, tenant=str(tmp_path))
        agent = Agent(ScriptedProvider(["One.", "Two."]), store=store)
        async with agent.session(session_id="one") as session:
            await session.run("Hi")
            claim = await store.claim("one", "another")
            with pytest.raises(StaleOwnerError, match="taken over"):
                await session.run("Again")
            await store.end(claim)
        await store.close()

    asyncio.run(check())
