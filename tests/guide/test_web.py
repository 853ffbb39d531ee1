"""The web server of the guide answers, goes on, refuses a second answer at once, and stops."""

from __future__ import annotations

import asyncio
import os
import runpy
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
[PROGRAM] = [
    program
    for program in runpy.run_path(str(DOCS / "programs.py"))["programs"]()
    if program.page == "web"
]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    (tmp_path / "server.py").write_text(PROGRAM.source)
    (tmp_path / "notes.txt").write_text("one\n")
    for name in [name for name in os.environ if name.startswith("ANTHROPIC")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return runpy.run_path(str(tmp_path / "server.py"))


async def asked(app: Any, path: str, prompt: str = "") -> tuple[int, str]:
    """Post to the server, and wait for the whole answer."""
    body = [{"type": "http.request", "body": prompt.encode()}]
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        if body:
            return body.pop()
        await asyncio.Event().wait()  # the client stays
        return {}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "POST", "path": path, "query_string": b"", "headers": [],
        "http_version": "1.1", "asgi": {"spec_version": "2.4"},
    }  # fmt: skip
    await app(scope, receive, send)
    return sent[0]["status"], b"".join(each.get("body", b"") for each in sent).decode()


async def test_a_conversation_goes_on_in_the_next_request(server: dict[str, Any]) -> None:
    status, text = await asked(server["app"], "/chat/ann", "Hello")
    assert (status, "demo model" in text) == (200, True)

    _, text = await asked(server["app"], "/chat/ann", "What did I say first?")
    assert "Hello" in text
    assert [each["role"] for each in server["histories"]["ann"]] == ["user", "assistant"] * 2
    assert server["running"] == {}


async def test_a_second_answer_at_once_is_refused_and_the_first_can_be_stopped(
    server: dict[str, Any],
) -> None:
    first = asyncio.create_task(asked(server["app"], "/chat/ann", "Hello"))
    while "ann" not in server["running"]:  # noqa: ASYNC110 -- a dictionary tells nobody
        await asyncio.sleep(0)

    assert (await asked(server["app"], "/chat/ann", "Hello"))[0] == 409
    assert (await asked(server["app"], "/chat/ann/stop"))[1] == '{"stopped":true}'
    assert (await first)[0] == 200
    assert server["running"] == {}
    assert (await asked(server["app"], "/chat/bob/stop"))[1] == '{"stopped":false}'
