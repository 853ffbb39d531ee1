"""Questions: what they are about, and who can be asked."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_agent import Agent, Question, ScriptedProvider, hook, tool
from amplifier_core import HookResult
from amplifier_core.models import ApprovalRequest, ApprovalResponse


@tool
def add(a: int) -> int:
    """Add one."""
    return a + 1


@tool(needs_approval=True)
def wipe(path: str) -> str:
    """Delete a folder."""
    return f"{path} is gone"


class Person:
    """An approval provider that agrees, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[ApprovalRequest] = []

    async def request_approval(self, request: ApprovalRequest) -> ApprovalResponse:
        self.asked.append(request)
        return ApprovalResponse(approved=True)


def asking(event: str) -> Any:
    @hook(event)
    def ask(_event: str, _data: dict[str, Any]) -> HookResult:
        return HookResult(action="ask_user", approval_prompt="may it?")

    return ask


# Holds: agent-7
@pytest.mark.parametrize(
    ("event", "tool_name", "arguments"),
    [
        ("prompt:submit", "", {}),
        ("provider:request", "", {}),
        ("tool:pre", "add", {"a": 1}),
        ("tool:post", "add", {"a": 1}),
    ],
)
async def test_a_question_names_the_tool_that_it_is_about(
    event: str, tool_name: str, arguments: dict[str, Any]
) -> None:
    questions: list[Question] = []

    def agree(question: Question) -> bool:
        questions.append(question)
        return True

    model = ScriptedProvider([{"tool": "add", "arguments": {"a": 1}}, "Two."])
    agent = Agent(model, tools=[add], hooks=[asking(event)], approvals=agree)
    assert (await agent.run("1 + 1?")).text == "Two."
    assert (questions[0].tool_name, questions[0].arguments) == (tool_name, arguments)

    person = Person()
    model = ScriptedProvider([{"tool": "add", "arguments": {"a": 1}}, "Two."])
    await agent.replace(model=model, approvals=person).run("1 + 1?")
    assert person.asked[0].tool_name == tool_name
    assert person.asked[0].details["hook"] == "ask"


async def test_a_tool_that_needs_approval_asks_in_its_own_name() -> None:
    person = Person()
    model = ScriptedProvider([{"tool": "wipe", "arguments": {"path": "old"}}, "Done."])
    await Agent(model, tools=[wipe], approvals=person).run("Clean up")
    assert [request.tool_name for request in person.asked] == ["wipe"]
    assert person.asked[0].details["hook"] == "needs_approval"
