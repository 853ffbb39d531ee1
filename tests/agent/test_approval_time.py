"""Approvals wait as long as the turn may, and a denial may carry words for the model."""

from __future__ import annotations

import re
import sys
from collections.abc import Generator
from math import inf, nan
from pathlib import Path
from typing import Any

import anyio
import pytest

from amplifier_agent import (
    Agent,
    Budget,
    Question,
    QuestionAsked,
    ScriptedProvider,
    hook,
    tool,
)
from amplifier_core import ConfigurationError, HookResult, world
from amplifier_core.approval import ApprovalTimeoutError
from amplifier_core.models import ApprovalRequest, ApprovalResponse

sys.path.insert(0, str(Path(__file__).parents[1] / "modules"))
from virtual_time import BACKENDS, LoopWorld

HOUR = 3600.0
CALL = {"tool": "wipe", "arguments": {"path": "old"}}


@pytest.fixture(params=sorted(BACKENDS))
def anyio_backend(request: pytest.FixtureRequest) -> Any:
    return BACKENDS[request.param]()


@pytest.fixture(autouse=True)
def jumping_clock() -> Generator[None]:
    with world.use(LoopWorld()):
        yield


@tool(needs_approval=True)
async def wipe(path: str) -> str:
    """Delete a folder."""
    return f"{path} is gone"


class Events:
    """The events of approvals, with the seconds at which they came."""

    def __init__(self) -> None:
        self.began = anyio.current_time()
        self.told: list[tuple[float, str, dict[str, Any]]] = []

        @hook(
            "approval:required",
            "approval:timeout",
            "approval:granted",
            "approval:denied",
            "budget:warning",
        )
        def note(event: str, data: dict[str, Any]) -> None:
            left_out = {"question_id", "session_id", "parent_id", "timestamp", "prompt", "options"}
            about = {key: value for key, value in data.items() if key not in left_out}
            self.told.append((round(anyio.current_time() - self.began), event, about))

        self.hook = note

    @property
    def names(self) -> list[tuple[float, str]]:
        return [(seconds, event) for seconds, event, _ in self.told]


async def late(question: Question) -> bool:
    await anyio.sleep(10 * HOUR)
    return True


class System:
    """An approval system that answers after hours."""

    def __init__(self, seconds: float = 10 * HOUR) -> None:
        self.seconds = seconds
        self.limits: list[float] = []

    async def request_approval(
        self, prompt: str, options: list[str], seconds: float, default: str
    ) -> str:
        self.limits.append(seconds)
        await anyio.sleep(self.seconds)
        return "Allow"


class Provider:
    """An approval provider that answers after hours."""

    def __init__(self) -> None:
        self.limits: list[float | None] = []

    async def request_approval(self, request: ApprovalRequest) -> ApprovalResponse:
        self.limits.append(request.timeout)
        await anyio.sleep(10 * HOUR)
        return ApprovalResponse(approved=True)


def asking(**fields: Any) -> Any:
    """Return a hook that asks about each call, with these fields of its answer."""
    as_dict = fields.pop("as_dict", False)

    @hook("tool:pre")
    def ask(event: str, data: dict[str, Any]) -> Any:
        answer = {"action": "ask_user", "approval_prompt": "may it?", **fields}
        return answer if as_dict else HookResult(**answer)

    return ask


def model() -> ScriptedProvider:
    return ScriptedProvider([CALL, "Done."])


async def result_of_call(agent: Agent[Any], **options: Any) -> str:
    result = await agent.run("go", **options)
    assert result.status == "completed"
    [message] = [each for each in result.messages if each["role"] == "tool"]
    return str(message["content"])


# Holds: agent-8
@pytest.mark.parametrize(
    "who", [late, System(), Provider()], ids=["function", "system", "provider"]
)
@pytest.mark.parametrize("hooks", [(), (asking(),), (asking(as_dict=True),)])
async def test_without_a_limit_of_its_own_a_question_waits_as_long_as_the_turn_may(
    who: Any, hooks: tuple[Any, ...]
) -> None:
    events = Events()
    agent = Agent(model(), tools=[wipe], hooks=[*hooks, events.hook], approvals=who)
    assert await result_of_call(agent) == "old is gone"
    assert events.names == [(0, "approval:required"), (10 * HOUR, "approval:granted")]
    assert events.told[0][2]["timeout"] is None
    if who is not late:
        assert set(who.limits) == {inf if isinstance(who, System) else None}


# Holds: agent-8
@pytest.mark.parametrize("where", ["agent", "tool", "plan", "loop object"])
@pytest.mark.parametrize("hooks", [(), (asking(),), (asking(as_dict=True),)])
async def test_the_limit_of_the_agent_or_the_tool_is_for_hooks_that_set_none(
    where: str, hooks: tuple[Any, ...]
) -> None:
    from amplifier_modules.loops.streaming import StreamingLoop

    events = Events()
    options: dict[str, Any] = {"agent": {"approval_timeout": 60}}.get(where, {})
    if where == "tool":
        options = {"tools": [tool(wipe.function, needs_approval=True, approval_timeout=60)]}
        options["approval_timeout"] = 7
    elif where == "plan":
        loop = {"module": "loop-streaming", "config": {"approval_timeout": 60}}
        options = {"plan": {"session": {"orchestrator": loop}}}
    elif where == "loop object":
        options = {"loop": StreamingLoop(), "approval_timeout": 60}
    options = {"tools": [wipe], **options}
    agent = Agent(model(), hooks=[*hooks, events.hook], approvals=late, **options)
    assert "Approval timeout - denied by default" in await result_of_call(agent)
    about = {"tool_name": "wipe", "timeout": 60, "default": "deny"}
    # The kernel leaves the approval system a second to be first.
    assert events.told[1:] == [
        (61, "approval:timeout", about),
        (61, "approval:denied", {"tool_name": "wipe", "reason": events.told[2][2]["reason"]}),
    ]


# Holds: agent-8
@pytest.mark.parametrize("as_dict", [False, True])
@pytest.mark.parametrize("seconds", [5.0, 300.0])
async def test_the_limit_that_a_hook_sets_wins(as_dict: bool, seconds: float) -> None:
    events = Events()
    ask = asking(approval_timeout=seconds, as_dict=as_dict)
    slow = tool(wipe.function, needs_approval=True, approval_timeout=60)
    agent = Agent(
        model(), tools=[slow], hooks=[ask, events.hook], approvals=late, approval_timeout=60
    )
    await result_of_call(agent)
    assert events.names[1] == (seconds + 1, "approval:timeout")


async def test_a_default_that_allows_is_an_answer_in_time_of_need() -> None:
    events = Events()
    ask = asking(approval_default="allow")
    agent = Agent(
        model(), tools=[wipe], hooks=[ask, events.hook], approvals=late, approval_timeout=9
    )
    assert await result_of_call(agent) == "old is gone"
    assert events.names == [
        (0, "approval:required"), (10, "approval:timeout"), (10, "approval:granted"),
    ]  # fmt: skip


async def test_an_approval_system_that_gives_up_by_itself_is_late_too() -> None:
    class Hasty:
        async def request_approval(self, *question: object) -> str:
            raise ApprovalTimeoutError

    events = Events()
    agent = Agent(model(), tools=[wipe], hooks=[events.hook], approvals=Hasty())
    await result_of_call(agent)
    assert [event for _, event in events.names] == [
        "approval:required", "approval:timeout", "approval:denied",
    ]  # fmt: skip


async def test_a_question_that_waits_in_a_session_is_denied_after_the_limit() -> None:
    events = Events()
    agent = Agent(model(), tools=[wipe], hooks=[events.hook], approvals="wait", approval_timeout=30)
    async with agent.session() as s:
        result = await s.run("go")
    assert result.text == "Done."
    assert events.names[1] == (31, "approval:timeout")


# Holds: agent-9
@pytest.mark.parametrize("hooks", [(), (asking(),)])
async def test_the_seconds_of_a_budget_stand_still_while_a_person_thinks(
    hooks: tuple[Any, ...],
) -> None:
    @tool
    async def work() -> str:
        """Work."""
        await anyio.sleep(3)
        return "worked"

    events = Events()
    script = [{"tool": "work"}, CALL, {"tool": "work"}, {"tool": "work"}, "Done."]
    agent = Agent(
        ScriptedProvider(script), tools=[work, wipe], hooks=[*hooks, events.hook], approvals=late,
        budget=Budget(seconds=8),
    )  # fmt: skip
    result = await agent.run("go")
    assert (result.status, result.reason) == ("limit", "the budget of 8 s is used up")
    hours = len([event for _, event in events.names if event == "approval:granted"])
    assert round(anyio.current_time() - events.began) == hours * 10 * HOUR + 8
    [warned] = [told for told in events.told if told[1] == "budget:warning"]
    assert warned[0] == hours * 10 * HOUR + 6
    assert warned[2]["used"] == pytest.approx(6.4, abs=0.01)


# Holds: agent-9
async def test_the_seconds_of_the_parent_and_of_siblings_wait_for_the_person_of_a_child() -> None:
    ends: list[float] = []

    @tool
    async def work() -> str:
        """Work for long."""
        try:
            await anyio.sleep(100)
        finally:
            ends.append(round(anyio.current_time() - began))
        return "worked"

    asked = Agent(model(), tools=[wipe], approvals=late).as_tool("asked", "asks a person")
    busy = Agent(ScriptedProvider([{"tool": "work"}, "Done."]), tools=[work])
    calls = [{"tool": name, "arguments": {"prompt": "go"}} for name in ("asked", "busy")]
    parent = Agent(
        ScriptedProvider([calls, "Done."]), tools=[asked, busy.as_tool("busy", "works")],
        budget=Budget(seconds=8),
    )  # fmt: skip
    began = anyio.current_time()
    assert (await parent.run("go")).text == "Done."
    # What works beside has no seconds of its own: the parent's stood still.
    assert ends == [100]


ANSWERS: list[tuple[Any, str]] = [
    ("use the folder `tmp`", "Denied by hook: User denied, and says: use the folder `tmp`"),
    (
        ApprovalResponse(approved=False, reason=" too early "),
        "Denied by hook: User denied, and says: too early",
    ),
    (False, "Denied by hook: User denied: run `wipe`?\n| `path`: `old`"),
    ("", "Denied by hook: User denied: run `wipe`?\n| `path`: `old`"),
    (ApprovalResponse(approved=True, reason="fine"), "old is gone"),
]


# Holds: agent-10
@pytest.mark.parametrize(("answer", "told"), ANSWERS)
async def test_a_denial_of_a_function_or_a_provider_carries_words(answer: Any, told: str) -> None:
    class Person:
        async def request_approval(self, request: ApprovalRequest) -> ApprovalResponse:
            return answer

    agent = Agent(model(), tools=[wipe], approvals=lambda question: answer)
    assert await result_of_call(agent) == told
    if isinstance(answer, ApprovalResponse):
        agent = agent.replace(model=model(), approvals=Person())
        assert await result_of_call(agent) == told


# Holds: agent-10
@pytest.mark.parametrize(("answer", "told"), ANSWERS)
async def test_a_denial_by_session_answer_carries_words(answer: Any, told: str) -> None:
    agent = Agent(model(), tools=[wipe], approvals="wait")
    async with agent.session() as s:
        async for event in s.stream("go"):
            if isinstance(event, QuestionAsked):
                s.answer(event.question.id, answer)
        assert s.last is not None
        [message] = [each for each in s.last.messages if each["role"] == "tool"]
    assert message["content"] == told


# Holds: agent-10
@pytest.mark.parametrize("answer", ["yes", " Allow ", "OK", "allow once"])
async def test_a_text_that_agrees_is_no_denial_with_words(answer: str) -> None:
    said = f"`{answer}`, and a text denies (True grants)"
    agent = Agent(model(), tools=[wipe], approvals=lambda question: answer)
    assert f"the approval function answered with {said}" in await result_of_call(agent)

    agent = Agent(model(), tools=[wipe], approvals="wait")
    async with agent.session() as s:
        async for event in s.stream("go"):
            if isinstance(event, QuestionAsked):
                with pytest.raises(ValueError, match=re.escape(f"the answer is {said}")):
                    s.answer(event.question.id, answer)
                s.answer(event.question.id, True)


@pytest.mark.parametrize(
    ("seconds", "error", "said"),
    [
        (0, ValueError, "`approval_timeout` of {} is `0` (must be above 0 seconds, or None)"),
        (-1.5, ValueError, "`approval_timeout` of {} is `-1.5` (must be above 0 seconds, or None)"),
        (nan, ValueError, "`approval_timeout` of {} is `nan` (must be above 0 seconds, or None)"),
        (
            "5",
            TypeError,
            "`approval_timeout` of {} is a `str` (must be a number of seconds, or None)",
        ),
        (
            True,
            TypeError,
            "`approval_timeout` of {} is a `bool` (must be a number of seconds, or None)",
        ),
    ],
)
def test_a_limit_that_is_no_number_above_0_is_refused(
    seconds: Any, error: type[Exception], said: str
) -> None:
    with pytest.raises(error) as raised:
        Agent("demo", approval_timeout=seconds)
    assert str(raised.value) == said.format("an agent")
    with pytest.raises(error) as raised:
        tool(wipe.function, approval_timeout=seconds)
    assert str(raised.value) == said.format("a tool")


async def test_a_loop_of_others_has_no_limit_for_approvals() -> None:
    class Echo:
        name = "echo"

        async def execute(self, prompt: str, *rest: Any, **options: Any) -> str:
            return prompt

    agent = Agent("demo", loop=Echo(), approval_timeout=5)
    with pytest.raises(ConfigurationError, match="the loop `echo` has no `approval_timeout`"):
        await agent.run("go")
