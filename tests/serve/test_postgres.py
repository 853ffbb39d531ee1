"""Workers, clients and a server on PostgreSQL, where owners are tenants.

Holds: serve-3, worker-1
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

pytest.importorskip("asyncpg")
sys.path.insert(0, str(Path(__file__).parents[1] / "processes"))
sys.path.insert(0, str(Path(__file__).parent))
from postgres_fixture import Database
from serving import serving
from working import wait_for_rest, wait_until, working

from amplifier_agent import Agent, ScriptedProvider, tool
from amplifier_modules.stores import UnknownSessionError
from amplifier_modules.stores.postgres import PostgresStore
from amplifier_serve import Client, TokenFile

pytestmark = pytest.mark.xdist_group("postgres")


@pytest.fixture
async def store(postgres: Database) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(dsn=postgres.dsn, tenant="of nobody")
    yield store
    await store.close()


@tool(needs_approval=True)
def wipe() -> str:
    """Delete everything."""
    return "gone"


async def test_owners_are_tenants_whose_sessions_any_worker_runs(
    store: PostgresStore, tmp_path: Path
) -> None:
    tokens = TokenFile(tmp_path / "tokens")
    (anns, _), (bobs, _) = tokens.add("ann"), tokens.add("bob")
    script = [{"tool": "wipe", "arguments": {}}, "wiped", "Hello, Bob."]
    agent = Agent(ScriptedProvider(script), tools=[wipe], approvals="wait")
    async with (
        serving(store, tokens) as address,
        Client(address, token=anns) as ann,
        Client(address, token=bobs) as bob,
        working(store, {"helper": agent}),
    ):
        sent = await ann.submit("Clean up.", agent="helper")
        (question,) = await wait_until(lambda: ann.questions(sent.session_id))
        with pytest.raises(UnknownSessionError):
            await bob.answer(sent.session_id, question.id, True)
        await ann.answer(sent.session_id, question.id, True)
        events = [each async for each in ann.follow_turn(sent)]
        assert "".join(each.text for each in events) == "wiped"
        numbers = [each.number for each in events]
        assert numbers == list(range(2, 2 + len(numbers)))
        other = await bob.submit("I am Bob.", agent="helper")
        texts = [each.text async for each in bob.follow_turn(other) if each.text]
        assert texts == ["Hello, Bob."]
        assert [each.id for each in await bob.list()] == [other.session_id]
        await wait_for_rest(store.for_tenant("bob"), other.session_id)
    assert await store.sessions() == []
