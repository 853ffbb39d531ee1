"""Sixty tools of servers that come and go do not change how the requests of a conversation begin."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

from amplifier_agent import Agent, ScriptedProvider, hook
from amplifier_core.message_models import ChatRequest, ChatResponse, TextBlock, ToolCallBlock
from amplifier_providers.base import BaseProvider, Piece

RAW = Path(__file__).parents[1] / "modules" / "tool_mcp" / "raw_server.py"
SERVERS, TOOLS, TURNS = 3, 20, 1_000

pytestmark = pytest.mark.timeout(1_200)


class Caller(BaseProvider):
    """Calls a tool of a random server in each turn; one in twenty ends its server, one in forty changes it."""

    name = "caller"

    def __init__(self) -> None:
        self.random = random.Random(7)
        self.tools: list[list[str]] = []
        """What each request has offered, each tool with its schema."""
        self.results: list[tuple[str, str]] = []
        self.called = ""

    async def chunks(self, request: ChatRequest, **_options: Any) -> AsyncIterator[Piece]:
        self.tools.append([each.model_dump_json() for each in request.tools or ()])
        last = request.messages[-1]
        if last.role == "tool":
            self.results.append((self.called, str(last.content)))
            yield ChatResponse(content=[TextBlock(text="Done.")])
            return
        kind = self.random.choices(["die", "change", "tool"], [2, 1, 37])[0]
        kind = f"tool{self.random.randrange(TOOLS)}" if kind == "tool" else kind
        self.called = f"s{self.random.randrange(SERVERS)}__{kind}"
        id = f"call_{len(self.tools)}"
        yield ChatResponse(content=[ToolCallBlock(id=id, name=self.called, input={})])


# Holds: mcp-83
@pytest.mark.parametrize("deferred", [None, 20], ids=["all-described", "deferred"])
async def test_a_thousand_turns_with_servers_that_flap_change_no_tool_that_was_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deferred: int | None
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    names = ",".join([*(f"tool{number}" for number in range(TOOLS)), "die", "change"])
    words = ["-S", "-E", str(RAW), f"tools={names}"]
    entry = {"command": sys.executable, "args": words}
    config = {"servers": {f"s{number}": entry for number in range(SERVERS)}, "first_wait": 60}
    added: list[str] = []

    @hook("mcp:tools")
    def note(_event: str, data: dict[str, Any]) -> None:
        assert data["changed"] == []
        added.extend(data["added"])

    tools = [{"module": "tool-mcp", "config": config}]
    await Agent(ScriptedProvider(["Hello."]), tools=tools).run("What is there?")
    model = Caller()
    agent = Agent(model, tools=tools, hooks=[note], deferred_tools=deferred)
    async with agent.session() as session:
        for _ in range(TURNS):
            await session.run("Go on.")

    if deferred is None:
        assert len(model.tools[0]) == 1 + SERVERS * (TOOLS + 2)
    else:  # what comes later is said in a message
        assert {len(each) for each in model.tools} == {3}
    undeclared = [
        position
        for position, (before, after) in enumerate(zip(model.tools, model.tools[1:], strict=False))
        if after[: len(before)] != before
        or {json.loads(each)["name"] for each in after[len(before) :]} - set(added)
    ]
    assert undeclared == []
    assert {name for name, said in model.results if said != "done"} <= {
        f"s{number}__die" for number in range(SERVERS)
    }
    assert sorted(added) == [f"s{number}__later" for number in range(SERVERS)]
