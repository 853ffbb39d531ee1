"""Servers that run elsewhere are reached at checked addresses, and found again when they come back."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mounted_servers import Mount
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from amplifier_modules.tools.mcp import State
from amplifier_modules.tools.mcp.http_transport import is_loopback
from amplifier_modules.tools.mcp.server_entry import ServerEntry
from amplifier_modules.tools.mcp.settings import ServerSettings


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def make_server(seen: list[str]) -> MCPServer:
    server = MCPServer("remote")

    @server.tool()
    def echo(text: str, ctx: Context[Any, Any]) -> str:
        request: Any = ctx.request_context.request
        seen.append(request.headers.get("authorization"))
        return text

    return server


@contextmanager
def serve(app: Any, port: int = 0) -> Iterator[int]:
    """Serve an application on this machine, in a thread; yield its port."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    config = uvicorn.Config(app, log_level=logging.CRITICAL, lifespan="on")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = server.force_exit = True
        thread.join(20)
        listener.close()


# Holds: mcp-23
async def test_a_server_on_this_machine_is_called_and_found_again(mount: Mount) -> None:
    seen: list[str] = []
    entry: dict[str, Any] = {"headers": {"Authorization": "Bearer ${MCP_TEST_TOKEN:-abc}"}}
    with serve(make_server(seen).streamable_http_app()) as port:
        mounted = await mount({"far": {"url": f"http://127.0.0.1:{port}/mcp", **entry}})
        await mounted.settle()
        assert await mounted.run("far__echo", text="one") == "one"
    kind, _ = await mounted.run("far__echo", text="two")
    assert kind in ("ServerDownError", "ConnectionLostError")
    assert list(mounted.tools) == ["mcp_resources", "far__echo"]
    with serve(make_server(seen).streamable_http_app(), port):
        answers = [await mounted.run("far__echo", text="three") for _ in range(2)]
        assert "three" in answers
        await mounted.coordinator.cleanup()

    assert set(seen) == {"Bearer abc"}


# Holds: mcp-23
@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://10.0.0.1/mcp", "private"),
        ("http://169.254.169.254/mcp", "169.254.169.254"),
        ("http://[fd00::1]/mcp", "private"),
    ],
)
async def test_addresses_of_private_networks_are_refused(mount: Mount, url: str, said: str) -> None:
    mounted = await mount({"far": {"url": url}})
    await mounted.settle(State.DOWN)
    problem = mounted.servers.list_states()[0].problem

    assert said in problem, problem


# Holds: mcp-16
async def test_an_answer_without_end_is_refused(
    mount: Mount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("amplifier_modules.tools.mcp.http_transport.MAX_MESSAGE_BYTES", 1000)

    async def flood(request: Request) -> Response:
        return Response(b" " * 2000, media_type="application/json")

    with serve(Starlette(routes=[Route("/mcp", flood, methods=["POST"])])) as port:
        mounted = await mount({"far": {"url": f"http://127.0.0.1:{port}/mcp"}})
        await mounted.settle(State.DOWN)
        await mounted.coordinator.cleanup()


def test_this_machine_is_known_by_its_names() -> None:
    named = ["http://localhost:1/", "http://127.0.0.1/", "http://[::1]:2/", "http://127.9.9.9/"]
    others = ["http://localhost.example/", "http://10.0.0.1/", "https://example.com/"]

    assert list(map(is_loopback, named + others)) == [True] * 4 + [False] * 3


# Holds: mcp-24
def test_the_hash_is_of_the_entry_as_it_is_written() -> None:
    def hash(**written: Any) -> str:
        return ServerEntry("x", ServerSettings.model_validate(written)).hash

    base = hash(command="a", args=["${B}"], env={"C": "d"})
    assert base == hash(env={"C": "d"}, args=("${B}",), command="a")
    others = [
        hash(command="b", args=["${B}"], env={"C": "d"}),
        hash(command="a", args=["${B}", ""], env={"C": "d"}),
        hash(command="a", args=["${B}"], env={"C": "e"}),
        hash(command="a", args=["${B}"], env={"C": "d"}, cwd="/"),
        hash(url="http://a", headers={"C": "d"}),
    ]
    assert len({base, *others}) == 6
