"""`session.spawn`: sub-agents of the modules of their parent, their limits and their histories."""

from __future__ import annotations

import gc
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from amplifier_agent import Agent, BaseProvider, Budget, ScriptedProvider, hook, tool
from amplifier_core import AmplifierSession, ChatRequest, ChatResponse, HookResult, TextBlock, Usage
from amplifier_core import session as plain
from amplifier_core.llm_errors import ProviderUnavailableError
from amplifier_modules.spawn import child_session
from amplifier_modules.spawn.spawn import Spawn
from amplifier_modules.spawn.task import TaskLimitError
from amplifier_modules.spawn.tasks import KEPT_TASKS


class Slow(BaseProvider):
    """Answers once the event is set."""

    name = "slow"

    def __init__(self) -> None:
        self.waits_for = anyio.Event()

    async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
        await self.waits_for.wait()
        return ChatResponse(content=[TextBlock(text="done")])


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=[AmplifierSession, plain.AmplifierSession], ids=["rust", "python"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(child_session, "AmplifierSession", request.param)
    return request.param


def plan_of(**loop: Any) -> dict[str, Any]:
    return {
        "session": {
            "orchestrator": {"module": "loop-streaming", "config": loop},
            "context": {"module": "context-simple"},
        },
        "providers": [],
    }


@asynccontextmanager
async def opened(
    kind: Any, model: Any, *tools: Any, plan: dict[str, Any] | None = None
) -> AsyncIterator[tuple[Any, Any]]:
    """Yield a session with this model and these tools, and its capability."""
    session = kind(plan or plan_of())
    await session.coordinator.mount("providers", model, name=model.name)
    for each in tools:
        await session.coordinator.mount("tools", each, name=each.name)
    await session.initialize()
    try:
        yield session, session.coordinator.get_capability("session.spawn")
    finally:
        await session.cleanup()


@tool
def look(page: int) -> str:
    """Look at a page."""
    return f"page {page}"


def observed(session: Any) -> list[tuple[str, dict[str, Any]]]:
    seen: list[tuple[str, dict[str, Any]]] = []
    session.coordinator.hooks.observe(lambda event, data: seen.append((event, dict(data))))
    return seen


async def test_a_sub_agent_has_a_history_of_its_own_and_the_tools_of_its_parent(kind: Any) -> None:
    model = ScriptedProvider(
        ["Hello.", {"tool": "look", "arguments": {"page": 3}}, "It is page 3.", "Yes."]
    )
    async with opened(kind, model, look) as (session, spawn):
        await session.execute("Hi")
        result = await spawn("Which page?", system="Be brief.", description="page")
        assert (result.status, result.text, result.reason) == ("completed", "It is page 3.", None)
        assert (result.used.model_calls, result.used.tool_calls) == (2, 1)
        assert spawn.tasks()[0].description == "page"
        asked = [(m.role, m.content) for m in model.requests[1].messages]
        assert asked == [("system", "Be brief."), ("user", "Which page?")]
        await session.execute("Still there?")
        assert [m.content for m in model.requests[3].messages if m.role == "user"] == [
            "Hi", "Still there?",
        ]  # fmt: skip


async def test_a_sub_agent_has_the_tools_the_model_and_the_context_that_it_is_given(
    kind: Any,
) -> None:
    @tool
    def other() -> str:
        """Another one."""
        return "other"

    def function() -> str:
        """Make a tool."""
        return "function"

    class Own(BaseProvider):
        name = "own"

        def __init__(self) -> None:
            self.offered: list[str] = []

        async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
            self.offered = [each.name for each in request.tools or ()]
            return ChatResponse(content=[TextBlock(text="own")])

    context = child_session_context()
    async with opened(kind, ScriptedProvider([]), look, other) as (_, spawn):
        own = Own()
        result = await spawn("go", tools=["look", function], model=own, context=context)
        assert (result.text, sorted(own.offered)) == ("own", ["function", "look"])
        assert (await context.get_messages())[0]["content"] == "go"
        await spawn("go", tools=[], model=own)
        assert own.offered == []
        scripted = {"module": "context-simple", "config": {"max_tokens": 5000}}
        assert (await spawn("go", model=own, context=scripted)).status == "completed"


def child_session_context() -> Any:
    from amplifier_modules.contexts.simple import SimpleContext

    return SimpleContext()


async def test_a_model_by_name_has_the_config_of_the_plan(kind: Any) -> None:
    plan = plan_of()
    plan["providers"] = [
        {"module": "provider-scripted", "config": {"script": ["of the plan"], "repeat": True}}
    ]
    model = ScriptedProvider(["of the object"])
    model.name = "another"
    async with opened(kind, model, plan=plan) as (_, spawn):
        assert (await spawn("go", model="scripted")).text == "of the plan"
        failed = await spawn("go", model="nobody:x")
        assert failed.status == "error"
        assert failed.reason is not None


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"prompt": 3}, TypeError, "`prompt` is a `int` (must be text)"),
        ({"system": 3}, TypeError, "`system` is a `int` (must be text)"),
        ({"tools": "look"}, TypeError, "`tools` is a `str` (must be a list)"),
        ({"tools": [3]}, TypeError, "`int` is no tool"),
        ({"tools": ["lok"]}, ValueError, "no tool `lok` is mounted (there are: `look`)"),
        ({"model": 3}, TypeError, "`model` is a `int` (must be text such as `a:b`"),
        ({"model": ":x"}, ValueError, "`model` is `:x` (must be a provider, or"),
        ({"budget": 3}, TypeError, "`budget` is a `int` (must be a `Budget`)"),
    ],
)
async def test_what_cannot_be_used_is_refused(
    given: dict[str, Any], error: type[Exception], message: str
) -> None:
    async with opened(AmplifierSession, ScriptedProvider([]), look) as (_, spawn):
        with pytest.raises(error) as caught:
            await spawn(**{"prompt": "go", **given})
        assert message in str(caught.value)
        assert spawn.tasks() == []


async def test_a_sub_agent_that_fails_is_a_result_that_says_why(kind: Any) -> None:
    model = ScriptedProvider([ProviderUnavailableError("down"), "up"])
    async with opened(kind, model) as (session, spawn):
        seen = observed(session)
        result = await spawn("go")
        assert (result.status, result.reason) == ("error", "ProviderUnavailableError: down")
        assert result.failure() == (
            "the task `task-1` ended as `error`: ProviderUnavailableError: down"
        )
        assert [name for name, _ in seen] == ["task:start", "task:end"]
        assert (await spawn("go")).text == "up"


# Holds: agent-48
async def test_events_of_a_child_name_the_parent_and_the_call(kind: Any) -> None:
    seen: list[dict[str, Any]] = []
    told: list[tuple[str, dict[str, Any]]] = []

    @tool
    async def ask() -> str:
        """Ask a sub-agent."""
        return (await spawn("What?", description="asking")).text

    model = ScriptedProvider([{"tool": "ask", "id": "c1"}, "child", "parent"])
    async with opened(kind, model, ask) as (session, spawn):
        told = observed(session)
        session.coordinator.get_capability("session.tasks").prepare = (
            lambda child: child.hooks.observe(lambda event, data: seen.append(dict(data))),
        )
        await session.execute("go")
        parent = session.session_id
    ids = {(each["parent_id"], each["parent_tool_call_id"]) for each in seen}
    assert ids == {(parent, "c1")}
    assert parent not in {each["session_id"] for each in seen}
    begun, ended = (data for name, data in told if name.startswith("task:"))
    assert {"session_id": parent, "tool_call_id": "c1", "prompt": "What?"}.items() <= begun.items()
    assert begun["child_session_id"] == ended["child_session_id"] == seen[0]["session_id"]
    assert (ended["status"], ended["model_calls"], ended["is_background"]) == (
        "completed",
        1,
        False,
    )


async def test_the_budget_of_a_child_is_its_own_within_that_of_its_turn(kind: Any) -> None:
    results: list[Any] = []

    @tool
    async def ask(calls: int) -> str:
        """Ask a sub-agent."""
        results.append(await spawn("go", budget=Budget(model_calls=calls), tools=["look"]))
        return results[-1].status

    def again(_request: ChatRequest) -> Any:
        return {"tool": "look", "arguments": {"page": 1}}

    script = [
        {"tool": "ask", "arguments": {"calls": 1}}, again, "closing",
        {"tool": "ask", "arguments": {"calls": 50}}, again, "closing",
        "the end",
    ]  # fmt: skip
    plan = plan_of(budget={"model_calls": 5})
    async with opened(kind, ScriptedProvider(script), ask, look, plan=plan) as (session, spawn):
        assert await session.execute("go") == "the end"
    # The closing call of the first child counts, too: the turn has 5 calls, of which 1 is left.
    reasons = [(each.status, each.reason, each.text) for each in results]
    assert reasons == [
        ("limit", "the budget of 1 model call is used up", "closing"),
        ("limit", "the budget of 5 model calls is used up", "closing"),
    ]


# Holds: agent-58
async def test_depth_and_number_are_limited_and_the_error_says_so(kind: Any) -> None:
    @tool
    async def deeper() -> str:
        """Go deeper."""
        from amplifier_modules.tool.context import ToolContext

        spawn = ToolContext.current().session.coordinator.get_capability("session.spawn")
        return (await spawn("deeper")).text

    model = ScriptedProvider([*[{"tool": "deeper"}] * 3, "the deepest", "2", "1"])
    plan = plan_of(max_task_depth=2, max_tasks=2)
    async with opened(kind, model, deeper, plan=plan) as (session, spawn):
        assert await session.execute("go") == "1"
        told = model.requests[3].messages[-1].content
        assert "sub-agents are nested 2 deep, the limit (`max_task_depth` of the loop)" in str(told)

    slow = Slow()
    async with opened(kind, slow, plan=plan) as (_, spawn):
        first = await spawn("a", background=True)
        await spawn("b", background=True)
        with pytest.raises(
            TaskLimitError, match=r"2 sub-agents work .* \(`max_tasks` of the loop\)"
        ):
            await spawn("c")
        slow.waits_for.set()
        assert (await spawn.result(first)).text == "done"
        assert (await spawn("c")).text == "done"


# Holds: agent-49
async def test_a_resumed_sub_agent_keeps_its_system_prompt_tools_and_id(kind: Any) -> None:
    model = ScriptedProvider([{"tool": "look", "arguments": {"page": 1}}, "one", "two", "three"])
    async with opened(kind, model, look) as (_, spawn):
        first = await spawn("first", system="Be brief.", tools=["look"])
        second = await spawn.resume(first.id, "second")
        third = await spawn.resume(second.id, "third")
        assert [first.text, second.text, third.text] == ["one", "two", "three"]
        assert first.session_id == third.session_id
        last = model.requests[-1]
        assert [m.role for m in last.messages] == [
            "system", "user", "assistant", "tool", "assistant", "user", "assistant", "user",
        ]  # fmt: skip
        assert last.messages[0].content == "Be brief."
        assert [each.name for each in last.tools or ()] == ["look"]


# Holds: agent-52
async def test_a_task_is_continued_by_one_task_at_a_time(kind: Any) -> None:
    slow = Slow()
    refusal = "the task `task-1` is being continued as `task-2`; wait for its result or cancel it"
    async with opened(kind, slow) as (_, spawn):
        slow.waits_for.set()
        first = await spawn("first")
        slow.waits_for = anyio.Event()
        second = await spawn.resume(first.id, "second", background=True)
        for background in (True, False):
            with pytest.raises(RuntimeError, match=refusal):
                await spawn.resume(first.id, "third", background=background)
        assert [each.id for each in spawn.tasks()] == ["task-1", "task-2"]
        slow.waits_for.set()
        assert (await spawn.result(second)).session_id == first.session_id
        assert (await spawn.resume(first.id, "third")).session_id == first.session_id


async def test_of_old_tasks_nothing_is_kept(kind: Any) -> None:
    model = ScriptedProvider(["answer"], repeat=True)
    async with opened(kind, model) as (_, spawn):
        for _ in range(KEPT_TASKS + 5):
            await spawn("go")
        assert len(spawn.tasks()) == KEPT_TASKS
        with pytest.raises(LookupError, match=r"there is no task `task-1` \(there are: `task-6`"):
            await spawn.resume("task-1", "go on")


async def test_the_end_of_a_session_forgets_all_tasks_also_many_that_nobody_has_read(
    kind: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(kind, ScriptedProvider(["answer"], repeat=True)) as (session, spawn):
        begun = [await spawn("go", background=True) for _ in range(KEPT_TASKS + 5)]
        all_tasks = session.coordinator.get_capability("session.tasks")
        for each in begun:
            await all_tasks.find_task(each).ended.wait()
        await session.cleanup()
        assert spawn.tasks() == []
        assert all_tasks.family._count == 0
    assert [record.getMessage() for record in caplog.records] == []


async def test_a_spawn_of_the_application_wins(kind: Any) -> None:
    async def own(prompt: str) -> str:
        return prompt

    for is_early in (True, False):
        session = kind(plan_of())
        await session.coordinator.mount("providers", ScriptedProvider([]), name="scripted")
        if is_early:
            session.coordinator.register_capability("session.spawn", own)
        await session.initialize()
        if not is_early:
            assert isinstance(session.coordinator.get_capability("session.spawn"), Spawn)
            session.coordinator.register_capability("session.spawn", own)
        assert session.coordinator.get_capability("session.spawn") is own
        await session.cleanup()


# Holds: agent-56
async def test_hooks_of_an_agent_judge_its_sub_agents_too() -> None:
    @hook("tool:pre")
    def no_looking(event: str, data: dict[str, Any]) -> HookResult | None:
        return HookResult(action="deny", reason="no") if data["tool_name"] == "look" else None

    @tool
    async def ask() -> str:
        """Ask a sub-agent."""
        from amplifier_modules.tool.context import ToolContext

        spawn = ToolContext.current().session.coordinator.get_capability("session.spawn")
        return (await spawn("look")).text

    script = [{"tool": "ask"}, {"tool": "look", "arguments": {"page": 1}}, "refused", "the end"]
    model = ScriptedProvider(script)
    result = await Agent(model, tools=[ask, look], hooks=[no_looking]).run("go")
    assert "no" in str(model.requests[2].messages[-1].content)
    assert (result.text, result.model_calls, result.tool_calls) == ("the end", 4, 2)


async def test_what_sub_agents_cost_is_part_of_the_session(kind: Any) -> None:
    from decimal import Decimal

    class Costly(BaseProvider):
        name = "costly"
        reports_cost = True

        async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
            used = Usage(input_tokens=1, output_tokens=1, total_tokens=2, cost_usd=Decimal("0.25"))
            return ChatResponse(content=[TextBlock(text="a")], usage=used)

    async with opened(kind, Costly()) as (session, spawn):
        assert (await spawn("go")).cost == Decimal("0.25")
        await spawn("go")
        told = await session.coordinator.collect_contributions("session.cost")
        assert told == [{"cost_usd": "0.50", "model_calls": 2, "unpriced_calls": 0}]


# Holds: agent-59
@pytest.mark.parametrize("background", [False, True])
async def test_nothing_is_left_of_many_sub_agents_at_once(kind: Any, background: bool) -> None:
    count = 50
    model = ScriptedProvider(["an answer"], repeat=True)
    children: list[weakref.ref[Any]] = []
    async with opened(kind, model, look, plan=plan_of(max_tasks=count)) as (session, spawn):
        session.coordinator.get_capability("session.tasks").prepare = (
            lambda child: children.append(weakref.ref(child)),
        )
        texts: list[str] = []

        async def one() -> None:
            done = await spawn("go", background=background)
            texts.append((await spawn.result(done) if background else done).text)

        async with anyio.create_task_group() as group:
            for _ in range(count):
                group.start_soon(one)
        model.requests.clear()
        await anyio.wait_all_tasks_blocked()
        gc.collect()
        assert texts == ["an answer"] * count
        assert len(children) == count
        assert [ref() for ref in children] == [None] * count
        assert len(spawn.tasks()) == KEPT_TASKS
