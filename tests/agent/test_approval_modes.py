"""Modes and grants in sessions of agents: sub-agents, restarts, and answers of other processes."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from amplifier_agent import Agent, Question, Result, ScriptedProvider, tool
from amplifier_core.models import ApprovalResponse
from amplifier_core.session_capabilities import APPROVAL_POLICY


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": name, "arguments": arguments}


def approval(**config: Any) -> dict[str, Any]:
    return {"module": "hooks-approval", "config": config}


def tell_results(result: Result[Any]) -> list[str]:
    return [str(each["content"]) for each in result.messages if each["role"] == "tool"]


class Desk:
    """A tool that changes something, and a person who is asked about it."""

    def __init__(self, *answers: Any) -> None:
        self.did: list[str] = []
        self.asked: list[str] = []
        self.answers = list(answers)

        @tool
        async def send(to: str) -> str:
            """Send the report."""
            self.did.append(to)
            return f"sent to {to}"

        self.send = send

    def answer(self, question: Question) -> Any:
        self.asked.append(question.arguments["to"])
        return self.answers.pop(0)

    def agent(self, *script: Any, **options: Any) -> Agent[Any]:
        given = {"tools": [self.send], "approvals": self.answer, "hooks": [approval(mode="ask")]}
        return Agent(ScriptedProvider(script), **{**given, **options})


# Holds: approval-18
async def test_a_sub_agent_has_the_mode_of_its_parent_also_when_that_changes() -> None:
    desk = Desk()
    child = [call("send", to="Ann"), "Sent."]
    script = [call("task", prompt="Send it"), *child, "One.", call("task", prompt="Again"), *child, "Two."]  # fmt: skip
    hooks = [approval(mode="read-only")]
    agent = desk.agent(*script, tools=[desk.send, "tool-task"], hooks=hooks)
    async with agent.session() as session:
        await session.run("Go")
        assert desk.did == []
        policy = session.session.coordinator.get_capability(APPROVAL_POLICY)
        await policy.set_mode("auto")
        await session.run("Go")
    assert (desk.did, desk.asked) == (["Ann"], [])


# Holds: approval-18
async def test_an_agent_that_is_a_tool_is_never_wider_than_who_asks_it() -> None:
    desk = Desk()
    inner = Agent(
        ScriptedProvider([call("send", to="Ann"), "Sent."]),
        tools=[desk.send],
        hooks=[approval(mode="auto", allow=["send"])],
    )
    sender = inner.as_tool("sender", "Sends.")
    agent = desk.agent(
        call("sender", prompt="Send"), "Done.", tools=[sender], hooks=[approval(mode="plan")]
    )
    await agent.run("Go")
    assert (desk.did, desk.asked) == ([], [])


# Holds: approval-18
async def test_what_is_granted_to_a_sub_agent_is_not_granted_to_its_parent() -> None:
    remember = ApprovalResponse(approved=True, remember=True)
    desk = Desk(remember, True, remember)
    child = [call("send", to="1"), call("send", to="2"), "Sent."]
    again = [call("send", to="5"), "Sent."]
    script = [
        call("task", prompt="Send"), *child, call("send", to="3"), call("send", to="4"),
        call("task", prompt="Again"), *again, "Done.",
    ]  # fmt: skip
    await desk.agent(*script, tools=[desk.send, "tool-task"]).run("Go")
    assert desk.did == ["1", "2", "3", "4", "5"]
    assert desk.asked == ["1", "3", "4"]


# Holds: approval-11
async def test_a_sub_agent_cannot_end_the_mode_of_a_plan() -> None:
    desk = Desk()
    script = [call("task", prompt="Plan"), call("present_plan", plan="send"), "No.", "Done."]
    agent = desk.agent(*script, tools=[desk.send, "tool-task"], hooks=[approval(mode="plan")])
    async with agent.session() as session:
        await session.run("Go")
        policy = session.session.coordinator.get_capability(APPROVAL_POLICY)
        assert (policy.mode, desk.asked) == ("plan", [])


# Holds: approval-19
async def test_an_answer_of_another_process_grants_the_tool_once_the_turn_goes_on(
    tmp_path: Path,
) -> None:
    store = {"module": "store-sqlite", "config": {"folder": str(tmp_path)}}
    desk = Desk()
    first = desk.agent(call("send", to="Ann"), approvals="wait", store=store)
    asked = await first.run("Send")
    (question,) = asked.questions
    answering = desk.agent(approvals="wait", store=store)
    remember = ApprovalResponse(approved=True, remember=True)
    await answering.answer(asked.session_id, question.id, remember)
    with pytest.raises(LookupError):
        await answering.answer(asked.session_id, "forged", remember)
    after = desk.agent(call("send", to="Bob"), "Sent.", approvals="wait", store=store)
    async with after.session(session_id=asked.session_id) as session:
        result = await session.resume_turn()
    assert (result.status, desk.did) == ("completed", ["Ann", "Bob"])
    assert tell_results(result) == ["sent to Ann", "sent to Bob"]


# Holds: approval-28
@pytest.mark.parametrize(
    ("left_in", "configured", "goes_on_in"),
    [
        ("plan", "auto", "plan"),
        ("auto", "plan", "plan"),
        ("auto", "ask", "ask"),
        ("review", "auto", "review"),
        ("ask", "review", "ask"),
    ],
)
async def test_a_session_goes_on_in_its_mode_unless_that_allows_more(
    tmp_path: Path, left_in: str, configured: str, goes_on_in: str
) -> None:
    store = {"module": "store-sqlite", "config": {"folder": str(tmp_path)}}
    desk = Desk()
    first = desk.agent("Hello.", hooks=[approval(mode="ask")], store=store)
    async with first.session(session_id="chat") as session:
        await session.session.coordinator.get_capability("approval.policy").set_mode(left_in)
        await session.run("Hello")
    for chosen in ({}, {"goes_on_in_mode": False}):
        hooks = [approval(mode=configured, **chosen)]
        later = desk.agent("Hello.", hooks=hooks, store=store)
        async with later.session(session_id="chat") as session:
            coordinator = session.session.coordinator
            mode = coordinator.get_capability("approval.policy").mode
            assert mode == (configured if chosen else goes_on_in)
            assert ("present_plan" in coordinator.get("tools")) is (mode == "plan")


# Holds: approval-28
async def test_what_was_granted_in_a_session_is_granted_when_it_goes_on(tmp_path: Path) -> None:
    store = {"module": "store-sqlite", "config": {"folder": str(tmp_path)}}
    desk = Desk()
    desk.answers = [ApprovalResponse(approved=True, remember=True), False]
    async with desk.agent(call("send", to="Ann"), "Sent.", store=store).session(
        session_id="chat"
    ) as session:
        await session.run("Send")
    for id in ("chat", "another"):
        again = desk.agent(call("send", to="Bob"), "Over.", store=store)
        async with again.session(session_id=id) as session:
            await session.run("Send")
    assert desk.did == ["Ann", "Bob"]


# Holds: approval-19
async def test_of_two_processes_that_answer_one_question_the_first_counts(tmp_path: Path) -> None:
    store = {"module": "store-sqlite", "config": {"folder": str(tmp_path)}}
    desk = Desk()
    asked = await desk.agent(call("send", to="Ann"), approvals="wait", store=store).run("Send")
    (question,) = asked.questions
    one, other = (desk.agent(approvals="wait", store=store) for _ in range(2))
    await one.answer(asked.session_id, question.id, "not to Ann")
    late = ApprovalResponse(approved=True, remember=True)
    with suppress(LookupError):  # it is known already that there is an answer
        await other.answer(asked.session_id, question.id, late)
    after = desk.agent("Not sent.", approvals="wait", store=store)
    async with after.session(session_id=asked.session_id) as session:
        result = await session.resume_turn()
    assert desk.did == []
    assert tell_results(result) == ["Denied by hook: User denied, and says: not to Ann"]
