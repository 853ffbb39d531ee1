"""A tool asks a person something while it runs.

Holds: agent-64
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import anyio
import pytest

from amplifier_agent import Agent, Budget, Question, ScriptedProvider, ToolContext, hook, tool
from amplifier_core import ApprovalResponse, world

sys.path.insert(0, str(Path(__file__).parents[1] / "modules"))
from virtual_time import BACKENDS, LoopWorld

HOUR = 3600.0
CALL = {"tool": "publish", "arguments": {"page": "news"}}


@pytest.fixture(params=sorted(BACKENDS))
def anyio_backend(request: pytest.FixtureRequest) -> Any:
    return BACKENDS[request.param]()


@pytest.fixture(autouse=True)
def jumping_clock() -> Generator[None]:
    with world.use(LoopWorld()):
        yield


@tool
async def publish(context: ToolContext, page: str) -> str:
    """Publish a page, once a person has seen it."""
    await anyio.sleep(1)
    answer = await context.ask(f"publish `{page}`?", {"page": page, "words": 12})
    await anyio.sleep(1)
    return f"published {page}" if answer.is_yes else f"not published: {answer.reason}"


def make_agent(**options: Any) -> tuple[Agent, ScriptedProvider]:
    model = ScriptedProvider([CALL, "Done."])
    loop = {"module": "loop-streaming", "config": {"tool_timeout": 3}}
    return Agent(model, tools=[publish], loop=loop, **options), model


def read_result(model: ScriptedProvider) -> str:
    return str(model.requests[-1].messages[-1].content)


async def test_no_time_passes_for_the_call_and_the_budget_while_a_person_is_asked() -> None:
    asked: list[Question] = []

    async def answer(question: Question) -> bool:
        asked.append(question)
        await anyio.sleep(HOUR)
        return True

    agent, model = make_agent(approvals=answer, budget=Budget(seconds=10), approval_timeout=9999)
    result = await agent.run("go")
    assert (result.status, read_result(model)) == ("completed", "published news")
    (question,) = asked
    assert (question.tool_name, question.action) == ("publish", "publish `news`?")
    assert question.arguments == {"page": "news", "words": 12}


async def test_the_time_of_the_call_goes_on_after_the_answer() -> None:
    @tool
    async def ask_and_wait(context: ToolContext) -> str:
        """Ask, and then take long."""
        await context.ask("well?")
        await anyio.sleep(4)
        return "done"

    async def answer(question: Question) -> bool:
        await anyio.sleep(HOUR)
        return True

    model = ScriptedProvider([{"tool": "ask_and_wait", "arguments": {}}, "Done."])
    loop = {"module": "loop-streaming", "config": {"tool_timeout": 3}}
    agent = Agent(model, tools=[ask_and_wait], loop=loop, approvals=answer, approval_timeout=9999)
    await agent.run("go")
    assert "3" in read_result(model)
    assert "done" not in read_result(model)


async def test_a_no_has_the_words_of_the_person() -> None:
    def answer(question: Question) -> ApprovalResponse:
        return ApprovalResponse(approved=False, reason="a typo in line 2")

    agent, model = make_agent(approvals=answer)
    await agent.run("go")
    assert read_result(model) == "not published: User denied, and says: a typo in line 2"


async def test_who_does_not_answer_in_time_says_no() -> None:
    async def answer(question: Question) -> bool:
        await anyio.sleep(HOUR)
        return True

    agent, model = make_agent(approvals=answer, approval_timeout=60)
    await agent.run("go")
    assert read_result(model).startswith("not published: ")


async def test_without_anybody_it_is_no_and_events_tell_of_the_question() -> None:
    told: list[tuple[str, str]] = []

    @hook("approval:required", "approval:denied")
    def note(event: str, data: dict[str, Any]) -> None:
        told.append((event, data["tool_name"]))

    agent, model = make_agent(hooks=[note])
    await agent.run("go")
    assert read_result(model) == "not published: No approval system available"
    assert told == [("approval:required", "publish"), ("approval:denied", "publish")]


async def test_a_question_that_nobody_could_read_is_no() -> None:
    @tool
    async def ask_much(context: ToolContext) -> str:
        """Ask too much."""
        answer = await context.ask("x" * 20_000)
        return f"{answer.is_yes} {answer.reason}"

    model = ScriptedProvider([{"tool": "ask_much", "arguments": {}}, "Done."])
    await Agent(model, tools=[ask_much], approvals=lambda _question: True).run("go")
    assert read_result(model) == "False nobody could be asked: the question is too long"
