"""A server of tools at its two wires: standard input and output, and HTTP."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest

pytest.importorskip("mcp")

from amplifier_agent import ToolServer, tool
from amplifier_agent.serving.http_access import is_loopback

TOKEN = "a-token-of-24-characters"
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
INITIALIZE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
HEADERS = {"Authorization": f"Bearer {TOKEN}", "Accept": "application/json, text/event-stream"}

NOISY = """
import os, sys
from amplifier_agent import ToolServer, tool

print("before the wire", end="")

@tool
def shout() -> str:
    "Write wherever a program can."
    print("printed")
    sys.stdout.write("written")
    os.write(1, b"to the descriptor")
    os.system("echo of a program; cat")
    sys.__stdout__.write("to the old stream")
    return "quiet"

ToolServer("noisy", tools=[shout]).run()
"""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


# Holds: mcp-68
def test_nothing_but_the_protocol_is_written_on_standard_output(tmp_path: Path) -> None:
    program = tmp_path / "noisy.py"
    program.write_text(NOISY)
    call = {"name": "shout", "arguments": {}}
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "python")}
    environment.pop("PYTHONUNBUFFERED", None)
    with subprocess.Popen(
        [sys.executable, program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        answers: list[Any] = []
        for message in (INITIALIZE, {**LIST, "id": 2, "method": "tools/call", "params": call}):
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
            answers.append(json.loads(process.stdout.readline()))
        rest, errors = process.communicate(timeout=60)

    assert [each["id"] for each in answers] == [1, 2]
    assert answers[1]["result"]["content"] == [{"type": "text", "text": "quiet"}]
    assert (rest, process.returncode) == ("", 0)
    said = (
        "before the wire",
        "printed",
        "written",
        "to the descriptor",
        "of a program",
        "old stream",
    )
    assert [each for each in said if each not in errors] == []


# Holds: mcp-69
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer another-token-of-24-chars"}, 401),
        ({"Authorization": f"Basic {TOKEN}"}, 401),
        ({"Host": "evil.example"}, 421),
        ({"Host": "tools.example:8000"}, 200),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "http://localhost:3000"}, 200),
        ({"Origin": "https://tools.example"}, 200),
    ],
)
async def test_only_who_has_the_token_and_comes_by_a_known_name_is_answered(
    headers: dict[str, str], status: int
) -> None:
    app = ToolServer("shop", tools=[add]).streamable_http_app(
        token=TOKEN, allowed_names=["tools.example"], json_response=True
    )
    transport = httpx2.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client,
    ):
        answer = await client.post("/mcp", json=INITIALIZE, headers={**HEADERS, **headers})

    assert answer.status_code == status


# Holds: mcp-69
async def test_a_body_has_a_limit() -> None:
    app = ToolServer("shop", tools=[add]).streamable_http_app(
        token=TOKEN, max_request_body_size=1000
    )
    transport = httpx2.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client,
    ):
        answer = await client.post("/mcp", content=b" " * 1001, headers=HEADERS)

    assert answer.status_code == 413


# Holds: mcp-69
@pytest.mark.parametrize("token", ["short", "with a blank in it", "ümlaut-in-a-long-token"])
def test_a_token_that_can_be_guessed_or_not_be_sent_is_refused(token: str) -> None:
    with pytest.raises(ValueError, match="the token has"):
        ToolServer("shop").streamable_http_app(token=token)


# Holds: mcp-69
async def test_a_server_that_others_can_reach_needs_a_token() -> None:
    with pytest.raises(ValueError, match="needs a `token`"):
        await ToolServer("shop").run_streamable_http_async(host="0.0.0.0")
    assert [is_loopback(each) for each in ("127.0.0.9", "::1", "localhost", "::", "a.example")] == [
        True,
        True,
        True,
        False,
        False,
    ]
