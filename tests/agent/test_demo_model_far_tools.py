"""The demo model looks tools up that requests only name, and calls them as other models do."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_agent import Agent
from amplifier_core.models import ToolResult
from amplifier_providers.demo import DemoProvider

sys.path.insert(0, str(Path(__file__).parent))
from far_tools import Far, make_far, near, results_of


class Requested(DemoProvider):
    """The demo model, which keeps the calls that it makes."""

    def __init__(self) -> None:
        super().__init__(pace=0)
        self.made: list[tuple[str, Any]] = []

    async def chunks(self, request: Any, **options: Any) -> Any:
        async for piece in super().chunks(request, **options):
            for call in getattr(piece, "tool_calls", None) or ():
                self.made.append((call.name, call.arguments))
            yield piece


LOOKED_UP = ("search_tools", {"query": "far__look44"})
CALLED = ("call_tool", {"name": "far__look44", "arguments": {"at": "noon"}})


# Holds: deferred-12
@pytest.mark.parametrize(
    "prompt",
    [
        "call far__look44 with at noon",
        'call far__look44 with {"at": "noon"}',
        "Please use the tool far__look44 with at=noon.",
        'invoke far-look44 with at "noon"',
    ],
)
async def test_a_tool_that_is_only_named_is_looked_up_and_called(prompt: str) -> None:
    model = Requested()
    result = await Agent(model, tools=[near, *make_far()]).run(prompt)

    assert model.made == [LOOKED_UP, CALLED]
    assert results_of(result)[1] == ("far__look44", "far__look44 was at noon")
    assert result.text == "`far__look44` answered:\n\n```\nfar__look44 was at noon\n```"


# Holds: deferred-12
async def test_what_was_looked_up_once_is_called_at_once() -> None:
    model = Requested()
    async with Agent(model, tools=[near, *make_far()]).session() as session:
        await session.run("call far__look44 with at noon")
        model.made.clear()
        await session.run("call far__look44 with at noon")
        assert model.made == [CALLED]
        model.made.clear()
        await session.run("call near with at noon")
        assert model.made == [("near", {"at": "noon"})]


# Holds: deferred-12
async def test_what_is_wrong_is_said_after_the_look_up() -> None:
    model = Requested()
    async with Agent(model, tools=[near, *make_far()]).session() as session:
        lacking = await session.run("call far__look44")
        unknown = await session.run("call far__lok44 with at noon")
        able = await session.run("What can you do?")
        searched = await session.run("call search_tools with query far__look3")

    assert model.made == [
        LOOKED_UP, ("search_tools", {"query": "far__lok44"}),
        ("search_tools", {"query": "far__look3"}),
    ]  # fmt: skip
    assert lacking.text.startswith("I cannot call `far__look44` without `at`.")
    assert unknown.text.startswith("There is no tool `far__lok44`; did you mean `far__look44`?")
    assert "once I have looked them up: `far__look0`, `far__look1`," in able.text
    assert searched.text.startswith("`search_tools` answered:")


class Failing(Far):
    """A tool that fails."""

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        return ToolResult(success=False, error={"message": "the server is gone"})


# Holds: deferred-12
async def test_a_tool_that_fails_is_told_and_not_called_again() -> None:
    model = Requested()
    agent = Agent(model, tools=[near, *make_far(30), Failing("far__gone")])
    result = await agent.run("call far__gone with at noon")
    assert [name for name, _ in model.made] == ["search_tools", "call_tool"]
    assert result.text.startswith("`far__gone` failed:\n\n```\n")
    assert "the server is gone" in result.text
