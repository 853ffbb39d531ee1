"""The end of sub-agents: one alone, all with their parent, and those that ignore it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from amplifier_agent import Agent, BaseProvider, ScriptedProvider, ToolContext, tool
from amplifier_core import AmplifierSession, ChatRequest, ChatResponse, TextBlock
from amplifier_core import session as plain
from amplifier_modules.spawn import child_session, tasks


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=[AmplifierSession, plain.AmplifierSession], ids=["rust", "python"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(child_session, "AmplifierSession", request.param)
    return request.param


class Gate(BaseProvider):
    """Answers each request once it is let through."""

    name = "gate"

    def __init__(self) -> None:
        self.asked = 0
        self.open = anyio.Event()

    async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
        self.asked += 1
        await self.open.wait()
        return ChatResponse(content=[TextBlock(text="through")])


@asynccontextmanager
async def opened(kind: Any, model: Any) -> AsyncIterator[tuple[Any, Any, list[dict[str, Any]]]]:
    """Yield a session, its capability, and the data of each `task:end`."""
    session = kind(
        {"session": {"orchestrator": "loop-basic", "context": "context-simple"}, "providers": []}
    )
    await session.coordinator.mount("providers", model, name=model.name)
    await session.initialize()
    ended: list[dict[str, Any]] = []
    session.coordinator.hooks.register("task:end", lambda _, data: ended.append(dict(data)))
    with anyio.fail_after(30):
        try:
            yield session, session.coordinator.get_capability("session.spawn"), ended
        finally:
            await session.cleanup()


async def test_one_sub_agent_alone_can_be_cancelled(kind: Any) -> None:
    model = Gate()
    async with opened(kind, model) as (session, spawn, ended):
        first, second = [await spawn("go", background=True) for _ in range(2)]
        await anyio.wait_all_tasks_blocked()
        assert model.asked == 2
        spawn.cancel(first)
        assert (await spawn.result(first)).status == "cancelled"
        assert not session.coordinator.cancellation.is_cancelled
        model.open.set()
        assert (await spawn.result(second)).text == "through"
        assert [each["status"] for each in ended] == ["cancelled", "completed"]
        spawn.cancel(second)  # it is over: nothing happens
        assert (await spawn.result(second)).status == "completed"


async def test_a_foreground_sub_agent_that_is_cancelled_alone_is_an_error_of_its_tool() -> None:
    gate = Gate()

    @tool
    async def ask(context: ToolContext) -> str:
        """Ask a sub-agent that never answers."""
        spawn = context.session.coordinator.get_capability("session.spawn")
        result: list[Any] = []

        async def wait() -> None:
            result.append(await spawn("go", model=gate))

        async with anyio.create_task_group() as group:
            group.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            spawn.cancel("task-1")
        return str(result[0].failure())

    model = ScriptedProvider([{"tool": "ask"}, "It was cancelled."])
    result = await Agent(model, tools=[ask]).run("go")
    assert (result.status, result.text) == ("completed", "It was cancelled.")
    assert model.requests[1].messages[-1].content == (
        "the task `task-1` ended as `cancelled`: the turn was cancelled"
    )


async def test_cancelling_the_parent_ends_all_its_sub_agents(kind: Any) -> None:
    async with opened(kind, Gate()) as (session, spawn, ended):
        begun = [await spawn("go", background=True) for _ in range(3)]
        await anyio.wait_all_tasks_blocked()
        session.coordinator.cancellation.request_immediate()
        assert [(await spawn.result(each)).status for each in begun] == ["cancelled"] * 3
        session.coordinator.cancellation.reset()
        assert len(ended) == 3


async def test_a_turn_that_is_cancelled_takes_its_sub_agents_and_theirs_with_it() -> None:
    gate = Gate()
    ended: list[str] = []

    @tool
    async def deeper(context: ToolContext, depth: int) -> str:
        """Go deeper, and at last wait."""
        spawn = context.session.coordinator.get_capability("session.spawn")
        context.session.coordinator.hooks.register(
            "task:end", lambda _, data: ended.append(data["status"])
        )
        return (await spawn("go", model=gate if depth == 2 else None)).text

    calls = [{"tool": "deeper", "arguments": {"depth": depth}} for depth in (0, 1, 2)]
    async with Agent(ScriptedProvider(calls), tools=[deeper]).session() as session:
        results: list[Any] = []

        async def run() -> None:
            results.append(await session.run("go"))

        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:
                group.start_soon(run)
                await anyio.wait_all_tasks_blocked()
                assert gate.asked == 1
                session.cancel()
    assert results[0].status == "cancelled"
    assert ended == ["cancelled"] * 3


async def test_the_end_of_a_session_waits_for_its_sub_agents_to_end(kind: Any) -> None:
    async with opened(kind, Gate()) as (_, spawn, ended):
        await spawn("go", background=True)
        await anyio.wait_all_tasks_blocked()
    assert [each["status"] for each in ended] == ["cancelled"]
    assert spawn.tasks() == []


async def test_a_module_that_never_loads_is_given_up_after_the_grace(
    kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "GRACE_SECONDS", 0.05)

    async def never(_coordinator: Any) -> None:
        await anyio.sleep_forever()

    monkeypatch.setattr(child_session.ChildSession, "_mount_objects", lambda *_: never(None))
    async with opened(kind, Gate()) as (_, spawn, ended):
        task = await spawn("go", background=True)
        await anyio.wait_all_tasks_blocked()
        spawn.cancel(task)
        assert (await spawn.result(task)).status == "cancelled"
        assert [each["status"] for each in ended] == ["cancelled"]


async def test_a_hook_that_never_returns_holds_the_end_of_a_task_no_longer_than_the_grace(
    kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "GRACE_SECONDS", 0.05)
    model = Gate()
    model.open.set()

    async def never(event: str, data: Any) -> None:
        await anyio.sleep_forever()

    async with opened(kind, model) as (session, spawn, _):
        session.coordinator.hooks.register("task:end", never)
        assert (await spawn("go")).text == "through"


async def test_waiting_for_a_result_can_be_cancelled_and_nothing_is_lost(kind: Any) -> None:
    model = Gate()
    async with opened(kind, model) as (_, spawn, _ended):
        task = await spawn("go", background=True)
        with anyio.move_on_after(0.01):
            await spawn.result(task)
        model.open.set()
        assert (await spawn.result(task)).text == "through"


async def test_a_session_goes_on_after_its_end(kind: Any) -> None:
    model = Gate()
    async with opened(kind, model) as (session, spawn, ended):
        await spawn("go", background=True)
        await session.cleanup()
        assert len(ended) == 1
        model.open.set()
        await session.initialize()
        assert (await spawn("go")).text == "through"


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_task_that_is_cancelled_while_its_end_is_told_is_over_all_the_same(
    kind: Any,
) -> None:
    import asyncio

    async with opened(kind, ScriptedProvider(["done"])) as (session, spawn, _):

        async def cancel(*_: object) -> None:
            running.cancel()
            await asyncio.sleep(3_600)

        session.coordinator.hooks.register("task:end", cancel)
        running = asyncio.ensure_future(spawn("go"))
        with pytest.raises(asyncio.CancelledError):
            await running

        assert [each.status for each in spawn.tasks()] == ["completed"]
        assert session.coordinator.get_capability("session.tasks").family._count == 0
