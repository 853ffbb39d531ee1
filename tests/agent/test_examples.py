"""The programs of `examples/agent_*.py` run as they are written, and pass strict type checkers."""

from __future__ import annotations

import asyncio
import json
import os
import re
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_testing.servers.anthropic import AnthropicServer

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted((ROOT / "examples").glob("agent_*.py"))
PRINTS = {
    "agent_approval": r"run `wipe`\?\n\| `path`: `old` \[y/N\] Done\.\n",
    "agent_budget": r"limit: Nothing on two pages\.\ncompleted: On no page\.\n",
    "agent_cancel": r"cancelled Hello!\n",
    "agent_context": r"\d{4} characters.*\n(the conversation was shortened.*\n)+22 messages.*\n1?\d were.*\n",
    "agent_deny": r"(?s).*notes\.txt.*",
    "agent_go_on": "",
    "agent_inject": r"(?s).+",
    "agent_log": r'(?s)\["session:start", .*',
    "agent_output": r"Paris\n",
    "agent_provider": r"Hello world\n",
    "agent_steer": r"(?s).*TODO.*",
    "agent_sub_agent": r"(?s).* 0\.00\d+\n",
    "agent_tasks": r"Both are about owls\. 6 model calls\n",
    "agent_tool": "",
}
"""What each prints."""


@pytest.fixture
def run(tmp_path: Path, interpreters: Any) -> Callable[..., str]:
    """Runs a program in a small folder; returns what it prints."""

    def run(program: Path, **environment: str) -> str:
        (tmp_path / "notes.txt").write_text("one\nTODO two\n")
        kept = {key: value for key, value in os.environ.items() if not key.startswith("ANTHROPIC")}
        env = {**kept, **environment}
        done = interpreters.run(str(program), env=env, cwd=tmp_path, input=b"y\n")
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return run


# Holds: agent-61
@pytest.mark.parametrize("name", sorted(PRINTS))
def test_a_program_runs_as_it_is_written(name: str, run: Any) -> None:
    with AnthropicServer() as server:
        key = {"ANTHROPIC_API_KEY": "secret", "ANTHROPIC_BASE_URL": server.url}
        printed = run(ROOT / f"examples/{name}.py", **key)
    assert re.fullmatch(PRINTS[name], printed), printed


def test_every_program_is_run() -> None:
    assert {path.stem for path in PROGRAMS} == {*PRINTS, "agent_server"}


def test_a_conversation_goes_on_in_the_next_run(run: Any, tmp_path: Path) -> None:
    program = ROOT / "examples/agent_go_on.py"
    run(program)
    first = json.loads((tmp_path / "chat.json").read_text())
    run(program)
    assert json.loads((tmp_path / "chat.json").read_text())[: len(first)] == first


def test_every_event_is_logged_once_and_in_order(run: Any) -> None:
    lines = run(ROOT / "examples/agent_log.py").splitlines()
    names = [json.loads(line)[0] for line in lines]
    assert names[0] == "session:start"
    assert names[-1] == "session:end"
    assert names.count("provider:response") == names.count("provider:request") == 1


async def test_the_server_streams_an_answer() -> None:
    app = runpy.run_path(str(ROOT / "examples/agent_server.py"))["app"]
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        await asyncio.Event().wait()  # the client stays
        return {}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "GET", "path": "/chat", "query_string": b"q=Hello",
        "headers": [], "http_version": "1.1", "asgi": {"spec_version": "2.4"},
    }  # fmt: skip
    await app(scope, receive, send)
    body = b"".join(message.get("body", b"") for message in sent)
    assert sent[0]["status"] == 200
    assert body.startswith(b"Hello! I am the demo model")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
