"""Connections outlive sessions: shared in one event loop, by all who take the same way."""

from __future__ import annotations

import os
import ssl
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from amplifier_agent import Agent
from amplifier_core.llm_errors import AuthenticationError
from amplifier_core.message_models import ChatRequest, Message
from amplifier_providers.connections import close_connections, pools
from amplifier_providers.connections.http_client import read_route
from amplifier_providers.connections.pools import MAX_CALLS, loop_pools
from amplifier_providers.openai_chat.config import ChatConfig, read_config
from amplifier_providers.openai_chat.provider import ChatProvider
from amplifier_testing.kit.base import wait_until

from .counting_server import CountingServer, Seen, counting_server

HANGS = 60
REQUEST = ChatRequest(messages=[Message(role="user", content="Hi")])


def agent_of(server: CountingServer, **settings: Any) -> Agent[None]:
    entry = {"module": "provider-openai-chat", "config": server.config(**settings)}
    return Agent(plan={"providers": [entry]})


def provider_of(server: CountingServer, **settings: Any) -> ChatProvider:
    config = read_config(server.config(**settings), {}, None)
    assert isinstance(config, ChatConfig)
    return ChatProvider.of(config)


async def run_each(agent: Agent[None], runs: int, at_once: int) -> list[str]:
    answers: list[str] = []
    places = anyio.CapacityLimiter(at_once)

    async def run() -> None:
        async with places:
            answers.append((await agent.run("Hi")).text)

    with anyio.fail_after(HANGS):
        async with anyio.create_task_group() as group:
            for _ in range(runs):
                group.start_soon(run)
    return answers


async def until(condition: Any) -> None:
    assert await wait_until(condition, HANGS)


# Holds: connection-1
async def test_many_runs_over_tls_make_as_many_handshakes_as_run_at_once(
    tls_server: CountingServer,
) -> None:
    assert await run_each(agent_of(tls_server), runs=60, at_once=4) == ["Hi"] * 60
    assert tls_server.connections <= 4
    assert len(tls_server.seen) == 60


def test_the_authorities_are_loaded_once_for_all_loops(
    tls_server: CountingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "authority.pem"
    copy.write_bytes(Path(os.environ["SSL_CERT_FILE"]).read_bytes())
    monkeypatch.setenv("SSL_CERT_FILE", str(copy))
    loaded: list[ssl.SSLContext] = []
    load = httpx2.create_ssl_context

    def count() -> ssl.SSLContext:
        loaded.append(load())
        return loaded[-1]

    monkeypatch.setattr(httpx2, "create_ssl_context", count)
    for library in ("asyncio", "asyncio", "trio"):
        anyio.run(agent_of(tls_server).run, "Hi", backend=library)
    assert len(loaded) == 1
    assert tls_server.connections == 3


# Holds: connection-1
async def test_sessions_survive_a_server_that_closes_resets_and_refuses() -> None:
    refused, reset = threading.Event(), [0]

    def do(seen: Seen) -> Any:
        number = len(server.seen)
        if number % 23 == 0 and reset[0] < 5:
            reset[0] += 1
            return "reset"
        if number == 40 and not refused.is_set():
            refused.set()
            return "refuse"
        return "close" if number % 7 == 0 else "answer"

    with counting_server(deed=do) as server:
        agent = agent_of(server, max_retries=5, min_retry_delay=0.0, retry_jitter=False)
        results: list[str] = []
        places = anyio.CapacityLimiter(20)

        async def run() -> None:
            async with places:
                try:
                    results.append((await agent.run("Hi")).text)
                except AuthenticationError:
                    results.append("refused")

        with anyio.fail_after(HANGS):
            async with anyio.create_task_group() as group:
                for _ in range(200):
                    group.start_soon(run)
        assert sorted(results) == ["Hi"] * 199 + ["refused"]
        assert reset[0] == 5
        assert server.connections < 100


async def test_two_keys_share_a_connection_and_each_request_has_its_own(
    server: CountingServer,
) -> None:
    server.cookie = "session=of-the-first; Path=/"
    for key in ("one", "two", "one"):
        await agent_of(server, key=key).run("Hi")
    assert [each.headers["authorization"] for each in server.seen] == [
        "Bearer one", "Bearer two", "Bearer one",
    ]  # fmt: skip
    assert [each.headers.get("cookie") for each in server.seen] == [None] * 3
    assert {each.connection for each in server.seen} == {1}


# Holds: connection-2
async def test_any_number_of_calls_goes_out_at_once() -> None:
    everybody = threading.Barrier(150, timeout=HANGS)

    def wait(seen: Seen) -> Any:
        everybody.wait()
        return "answer"

    with counting_server(deed=wait) as server:
        assert await run_each(agent_of(server), runs=150, at_once=150) == ["Hi"] * 150
        assert server.connections == 150
        assert [len(each.pools) for each in loop_pools()._routes.values()] == [-(-150 // MAX_CALLS)]


async def test_who_closes_last_closes_the_connections(server: CountingServer) -> None:
    first, second = provider_of(server), provider_of(server)
    await first.complete(REQUEST)
    await second.complete(REQUEST)
    await first.close()
    assert server.open == 1
    await second.close()
    await until(lambda: server.open == 0)
    await first.complete(REQUEST)
    assert server.connections == 2
    await close_connections()
    await until(lambda: server.open == 0)


async def test_a_connection_without_calls_is_closed_after_a_while(
    server: CountingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "KEPT_SECONDS", 0.05)
    agent = agent_of(server)
    await agent.run("Hi")
    await until(lambda: server.open == 0)
    await agent.run("Hi")
    await until(lambda: server.open == 0)
    assert server.connections == 2
    assert loop_pools()._routes == {}


@pytest.mark.parametrize("variable", ["https_proxy", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE"])
def test_another_proxy_password_or_certificate_is_another_route(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = "https://example.com/v1"
    routes = {read_route(address)}
    for value in ("http://me:one@127.0.0.1:9", "http://me:two@127.0.0.1:9"):
        monkeypatch.setenv(variable, value)
        routes.add(read_route(address))
    assert len(routes) == 3
    assert read_route(address) == read_route("https://EXAMPLE.com:443/v2")


async def test_a_proxy_with_another_password_gets_another_connection(
    server: CountingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The server is the proxy: it gets the request with its whole address.
    for password in ("one", "two"):
        monkeypatch.setenv("HTTP_PROXY", f"http://me:{password}@127.0.0.1:{server.port}")
        for _ in range(2):
            await agent_of(server, base_url="http://models.example/v1").run("Hi")
    assert [each.connection for each in server.seen] == [1, 1, 2, 2]
    assert len({each.headers["proxy-authorization"] for each in server.seen}) == 2


# Holds: connection-3
@pytest.mark.parametrize("library", ["asyncio", "trio"])
def test_the_end_of_the_loop_closes_its_connections(server: CountingServer, library: str) -> None:
    async def run() -> None:
        await agent_of(server).run("Hi")
        assert server.open == 1

    anyio.run(run, backend=library)
    anyio.run(until, lambda: server.open == 0, backend=library)


# Holds: connection-3
def test_loops_in_two_threads_share_nothing(server: CountingServer) -> None:
    both = threading.Barrier(2, timeout=HANGS)

    async def run() -> None:
        for _ in range(3):
            await agent_of(server).run("Hi")
            await anyio.to_thread.run_sync(both.wait)

    threads = [threading.Thread(target=anyio.run, args=(run,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert server.connections == 2
    assert len(server.seen) == 6


_PROGRAM = """
import asyncio, os, sys
from amplifier_agent import Agent
config = {"base_url": sys.argv[1], "api_key": "k", "default_model": "m", "use_streaming": False,
          "prices": {"m": {"input": 1, "output": 1}}}
agent = Agent(plan={"providers": [{"module": "provider-openai-chat", "config": config}]})
"""
_PROGRAMS = {
    "asyncio.run": "asyncio.run(agent.run('Hi'))\nasyncio.run(agent.run('Hi'))",
    "run_sync": "agent.run_sync('Hi')\nagent.run_sync('Hi')",
    "a loop that is left": "import atexit\nloop = asyncio.new_event_loop()\n"
    "atexit.register(loop.close)\nloop.run_until_complete(agent.run('Hi'))\n"
    "loop.run_until_complete(agent.run('Hi'))",
    "trio": "import trio\ntrio.run(agent.run, 'Hi')\ntrio.run(agent.run, 'Hi')",
}


# Holds: connection-3
@pytest.mark.parametrize(
    ("name", "connections"),
    [("asyncio.run", 2), ("run_sync", 1), ("a loop that is left", 1), ("trio", 2)],
)
def test_a_program_ends_without_a_warning(
    server: CountingServer, name: str, connections: int
) -> None:
    program = _PROGRAM + _PROGRAMS[name]
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", program, server.url]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=HANGS, check=False)
    lines = [line for line in ended.stderr.splitlines() if not line.startswith("Executing <")]
    assert (ended.returncode, lines) == (0, [])
    assert (server.connections, len(server.seen)) == (connections, 2)


# Holds: connection-3
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_process_has_connections_of_its_own(server: CountingServer) -> None:
    program = _PROGRAM + (
        "agent.run_sync('Hi')\n"
        "pid = os.fork()\n"
        "assert agent.run_sync('Hi').text == 'Hi'\n"
        "if pid:\n"
        "    assert os.waitpid(pid, 0)[1] == 0\n"
        "    assert agent.run_sync('Hi').text == 'Hi'\n"
    )
    command = [sys.executable, "-W", "error", "-c", program, server.url]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=HANGS, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert sorted(each.connection for each in server.seen) == [1, 1, 1, 2]


async def test_the_end_of_a_session_ends_the_answers_that_are_still_read() -> None:
    asked, may_answer = threading.Event(), threading.Event()

    def wait(seen: Seen) -> Any:
        asked.set()
        may_answer.wait(HANGS)
        return "answer"

    with counting_server(deed=wait) as server:
        with anyio.move_on_after(HANGS) as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(agent_of(server).run, "Hi")
                await until(asked.is_set)
                group.cancel_scope.cancel()
        assert not scope.cancelled_caught
        may_answer.set()
        await until(lambda: server.open == 0)
        assert (await agent_of(server).run("Hi")).text == "Hi"


async def test_runs_leave_nothing_behind(server: CountingServer) -> None:
    agent = agent_of(server)
    await run_each(agent, runs=300, at_once=MAX_CALLS)
    shared = list(loop_pools()._routes.values())
    assert [(len(each.pools), len(each.users)) for each in shared] == [(1, 0)]
    assert [pool.calls for each in shared for pool in each.pools] == [0]
    assert server.connections <= MAX_CALLS
