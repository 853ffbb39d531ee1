"""A program's own HTTP client sends the requests, is never closed, and belongs to one event loop."""

from __future__ import annotations

from typing import Any

import anyio
import httpx
import httpx2
import pytest

from amplifier_agent import Agent, ScriptedProvider
from amplifier_core import AmplifierSession
from amplifier_core.llm_errors import ConfigurationError
from amplifier_modules.spawn.child_session import ChildSession, Recipe

from .counting_server import ANSWER, CountingServer


def entry_of(server: CountingServer, **settings: Any) -> dict[str, Any]:
    return {"module": "provider-openai-chat", "config": server.config(**settings)}


def own_client() -> httpx2.AsyncClient:
    return httpx2.AsyncClient(headers={"x-of-mine": "yes"}, follow_redirects=True)


# Holds: connection-4
async def test_an_agent_asks_by_the_client_that_it_is_given(server: CountingServer) -> None:
    async with own_client() as client:
        agent = Agent(plan={"providers": [entry_of(server)]}, http_client=client)
        for _ in range(2):
            assert (await agent.run("Hi")).text == "Hi"
        assert not client.is_closed
    assert [(each.connection, each.headers.get("x-of-mine")) for each in server.seen] == [
        (1, "yes"), (1, "yes"),
    ]  # fmt: skip


# Holds: connection-4
async def test_a_provider_asks_by_the_client_of_its_settings(server: CountingServer) -> None:
    async with own_client() as client, own_client() as other:
        del other.headers["x-of-mine"]
        plan = {"providers": [entry_of(server, http_client=client)]}
        assert (await Agent(plan=plan, http_client=other).run("Hi")).text == "Hi"
        session = AmplifierSession(
            {"session": {"orchestrator": "loop-basic", "context": "context-simple"}, **plan}
        )
        await session.initialize()
        assert await session.execute("Hi") == "Hi"
        await session.cleanup()
        assert not client.is_closed
    assert [each.headers.get("x-of-mine") for each in server.seen] == ["yes", "yes"]


async def test_a_sub_agent_asks_by_the_client_of_its_parent(server: CountingServer) -> None:
    async with own_client() as client:
        agent = Agent(plan={"providers": [entry_of(server)]}, http_client=client)
        async with agent.session() as session:
            child = ChildSession(session.session.coordinator, Recipe())
            assert (await child.run("Hi")).text == "Hi"
    assert [each.headers.get("x-of-mine") for each in server.seen] == ["yes"]


# Holds: connection-4
def test_a_client_belongs_to_the_loop_that_used_it_first(server: CountingServer) -> None:
    asked: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request.url.path)
        return httpx2.Response(200, json=ANSWER)

    client = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
    agent = Agent(plan={"providers": [entry_of(server)]}, http_client=client)
    anyio.run(agent.run, "Hi")
    for library in ("asyncio", "trio"):
        with pytest.raises(ConfigurationError) as caught:
            anyio.run(agent.run, "Hi", backend=library)
        assert str(caught.value) == (
            "`http_client` was used in another event loop, to which its connections belong (give"
            " each loop a client of its own, or none)"
        )
    assert asked == ["/v1/chat/completions"]
    assert not client.is_closed


async def test_a_closed_client_is_refused(server: CountingServer) -> None:
    client = own_client()
    await client.aclose()
    with pytest.raises(ConfigurationError) as caught:
        await Agent(plan={"providers": [entry_of(server)]}, http_client=client).run("Hi")
    assert str(caught.value) == (
        "`http_client` is closed (it must stay open for as long as it is used)"
    )


def test_what_is_no_client_of_httpx2_is_refused_where_it_is_given(server: CountingServer) -> None:
    plan = {"providers": [entry_of(server)]}
    for wrong, name in ((httpx.AsyncClient(), "httpx.AsyncClient"), (1, "builtins.int")):
        with pytest.raises(TypeError) as caught:
            Agent(plan=plan, http_client=wrong)  # type: ignore[arg-type]
        assert str(caught.value) == f"`http_client` is a `{name}` (must be an `httpx2.AsyncClient`)"


async def test_a_setting_that_is_no_client_is_refused(server: CountingServer) -> None:
    plan = {"providers": [entry_of(server, http_client="mine")]}
    with pytest.raises(ConfigurationError, match=r"must be an `httpx2\.AsyncClient`"):
        await Agent(plan=plan).run("Hi")


async def test_a_client_for_a_provider_that_is_an_object_has_no_effect_and_is_refused() -> None:
    async with own_client() as client:
        with pytest.raises(ValueError, match="`http_client` has no effect where `model` is a prov"):
            Agent(ScriptedProvider([]), http_client=client)
