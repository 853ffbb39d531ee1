"""`tool-task`: what a model can have sub-agents do, and what it is told of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from amplifier_agent import Agent, BaseProvider, Budget, ScriptedProvider, ToolContext, tool
from amplifier_core import AmplifierSession, ChatRequest, ChatResponse, TextBlock
from amplifier_modules.tools.task import SYSTEM, mount
from amplifier_providers.settings import SettingError


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


@tool
def look(page: int) -> str:
    """Look at a page."""
    return f"page {page}"


def task(**arguments: Any) -> dict[str, Any]:
    return {"tool": "task", "arguments": arguments}


def last(request: ChatRequest) -> str:
    """What the model sees last."""
    return str(request.messages[-1].content)


@asynccontextmanager
async def tool_of(model: Any, **config: Any) -> AsyncIterator[Any]:
    """Yield the tool in a session of its own, and the session."""
    plan = {
        "session": {"orchestrator": "loop-streaming", "context": "context-simple"},
        "providers": [],
        "tools": [{"module": "tool-task", "config": config}],
    }
    session = AmplifierSession(plan)
    await session.coordinator.mount("providers", model, name=model.name)
    await session.coordinator.mount("tools", look, name="look")
    await session.initialize()
    try:
        yield session.coordinator.get("tools")["task"], session
    finally:
        await session.cleanup()


async def test_a_model_has_a_sub_agent_do_a_task_and_goes_on_with_it() -> None:
    script = [
        task(prompt="Which page?", description="find the page"),
        "Page 3.",
        task(action="continue", id="task-1", prompt="Sure?"),
        "Yes.",
        "It is page 3.",
    ]
    model = ScriptedProvider(script)
    result = await Agent(model, tools=[look, "tool-task"]).run("Find it")
    assert (result.text, result.model_calls, result.tool_calls) == ("It is page 3.", 5, 2)
    assert last(model.requests[2]) == '{"id": "task-1", "answer": "Page 3."}'
    assert last(model.requests[4]) == '{"id": "task-2", "answer": "Yes."}'
    asked = [(message.role, message.content) for message in model.requests[3].messages]
    assert asked[0] == ("system", SYSTEM)
    assert [content for role, content in asked if role == "user"] == ["Which page?", "Sure?"]
    assert sorted(each.name for each in model.requests[1].tools or ()) == ["look", "task"]


async def test_the_model_is_told_of_the_end_of_a_task_in_the_background_once() -> None:
    ended = anyio.Event()

    @tool
    async def wait() -> str:
        """Wait for the sub-agent."""
        await ended.wait()
        await anyio.wait_all_tasks_blocked()
        return "waited"

    class Two(BaseProvider):
        """Answers the sub-agent and the parent by what they were told."""

        name = "two"

        def __init__(self) -> None:
            self.parent = ScriptedProvider([
                task(prompt="child", description="reading", background=True),
                {"tool": "wait"}, task(action="status"), task(action="result", id="task-1"), "Done.",
            ])  # fmt: skip

        async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
            if last(request) == "child":
                ended.set()
                return ChatResponse(content=[TextBlock(text="read")])
            return await self.parent.complete(request, **options)

    model = Two()
    result = await Agent(model, tools=[wait, "tool-task"]).run("go")
    assert (result.text, result.model_calls) == ("Done.", 6)
    requests = model.parent.requests
    begun = [str(m.content) for m in requests[1].messages if m.role == "tool"]
    assert "the task `task-1` works in the background" in begun[0]
    notes = [
        [str(m.content) for m in request.messages if "<system-reminder>" in str(m.content)]
        for request in requests
    ]
    # Whether the sub-agent or the parent comes first is the event loop's choice.
    assert [len(each) for each in notes] in ([0, 0, 1, 1, 1], [0, 1, 1, 1, 1])
    assert notes[2] == [
        (
            "<system-reminder>The task `task-1` (reading) is over: completed. Call `task` with the"
            " action `result` for its answer.</system-reminder>"
        )
    ]
    assert '"status": "completed"' in last(requests[3])
    assert last(requests[4]) == '{"id": "task-1", "answer": "read"}'


async def test_a_task_in_the_background_can_be_cancelled() -> None:
    class Never(BaseProvider):
        name = "never"

        async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
            await anyio.sleep_forever()
            raise AssertionError

    async with tool_of(Never()) as (tool, _):
        begun = await tool.execute({"prompt": "go", "background": True})
        assert begun.output["id"] == "task-1"
        assert (await tool.execute({"action": "cancel", "id": "task-1"})).success
        result = await tool.execute({"action": "result", "id": "task-1"})
        assert result.error == {
            "message": "the task `task-1` ended as `cancelled`: the task was cancelled"
        }


async def test_a_task_that_fails_is_an_error_that_the_model_can_read() -> None:
    budget = {"tool_calls": 1}
    call = {"tool": "look", "arguments": {"page": 1}}
    async with tool_of(ScriptedProvider([ValueError("no"), call, call]), budget=budget) as (
        tool,
        _,
    ):
        assert (await tool.execute({"prompt": "go"})).error == {
            "message": "the task `task-1` ended as `error`: ValueError: no"
        }
        assert (await tool.execute({"prompt": "go"})).error == {
            "message": "the task `task-2` ended as `limit`: the budget of 1 tool call is used up"
        }


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "`prompt` is missing; this action needs it"),
        ({"prompt": " "}, "`prompt` is missing; this action needs it"),
        ({"action": "stop"}, "`action` is 'stop' (must be `start`"),
        ({"prompt": 3}, "`prompt` is"),
        ({"action": "result"}, "`id` is missing; this action needs it"),
        ({"action": "result", "id": "x"}, "there is no task `x` (there are: none; of those that"),
        ({"action": "cancel", "id": "x"}, "there is no task `x` (there are: none; of those that"),
        ({"action": "continue", "id": "x", "prompt": "a"}, "there is no task `x` (there are"),
        ({"action": "continue", "id": "x"}, "`prompt` is missing; this action needs it"),
        ({"prompts": "go"}, "`prompts`"),
    ],
)
async def test_what_a_model_gets_wrong_is_told_to_it(given: dict[str, Any], message: str) -> None:
    async with tool_of(ScriptedProvider([])) as (tool, _):
        result = await tool.execute(given)
        assert result.success is False
        assert message in result.error["message"]


async def test_sub_agents_are_made_as_the_settings_say() -> None:
    model = ScriptedProvider(["child"])
    config = {"system": "Be brief.", "tools": ["look"], "budget": {"model_calls": 1}}
    async with tool_of(model, **config) as (tool, _):
        assert (await tool.execute({"prompt": "go"})).output["answer"] == "child"
    assert model.requests[0].messages[0].content == "Be brief."
    assert [each.name for each in model.requests[0].tools or ()] == ["look"]


@pytest.mark.parametrize("config", [{"budget": {"cals": 1}}, {"tools": "look"}, {"sytem": "x"}])
async def test_a_setting_that_cannot_be_used_is_refused(config: dict[str, Any]) -> None:
    async with tool_of(ScriptedProvider([])) as (_, session):
        with pytest.raises(SettingError):
            await mount(session.coordinator, config)


async def test_the_tool_asks_the_spawn_of_an_application() -> None:
    asked: list[dict[str, Any]] = []

    async def spawn(prompt: str, **options: Any) -> str:
        asked.append({"prompt": prompt, **options})
        return "of the application"

    async with tool_of(ScriptedProvider([])) as (tool, session):
        session.coordinator.register_capability("session.spawn", spawn)
        assert (await tool.execute({"prompt": "go"})).output == "of the application"
        status = await tool.execute({"action": "status"})
        assert status.error["message"] == "`session.spawn` of this application cannot `status`"
    assert asked == [
        {
            "prompt": "go", "system": SYSTEM, "tools": None, "model": None, "budget": None,
            "background": False, "description": "",
        }
    ]  # fmt: skip


async def test_a_sub_agent_in_the_background_ends_with_its_session() -> None:
    class Never(BaseProvider):
        name = "never"
        asked = False

        async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
            self.asked = True
            await anyio.sleep_forever()
            raise AssertionError

    model = Never()
    ended: list[Any] = []
    with anyio.fail_after(20):
        async with tool_of(model) as (tool, session):
            session.coordinator.hooks.observe(
                lambda event, data: ended.append(data["status"]) if event == "task:end" else None
            )
            await tool.execute({"prompt": "go", "background": True})
            await anyio.wait_all_tasks_blocked()
            assert model.asked
            assert ended == []
    assert ended == ["cancelled"]


async def test_a_budget_of_the_turn_holds_for_tasks_in_the_background() -> None:
    @tool
    async def work(context: ToolContext) -> list[str]:
        """Have four sub-agents work in the background."""
        spawn = context.session.coordinator.get_capability("session.spawn")
        begun = [await spawn("go", background=True) for _ in range(4)]
        return sorted([(await spawn.result(each)).status for each in begun])

    model = ScriptedProvider([{"tool": "work"}, "a", "b", "Done."])
    result = await Agent(model, tools=[work], budget=Budget(model_calls=3)).run("go")
    assert (result.status, result.text, result.model_calls) == ("limit", "Done.", 4)
    told = [m.content for m in model.requests[3].messages if m.role == "tool"]
    assert told == ['["completed", "completed", "limit", "limit"]']
