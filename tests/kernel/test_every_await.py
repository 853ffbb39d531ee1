"""A turn cancelled at its k-th suspension, for every k: whole before, whole afterwards."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable, Generator
from typing import Any

import anyio
import anyio.lowlevel
import pytest
import trio
import trio.lowlevel

from amplifier_core.message_models import ChatResponse, TextBlock, ToolCall, ToolCallBlock
from amplifier_core.models import HookResult, ToolResult

EVENTS = ("execution:start", "provider:request", "llm:post", "tool:pre", "tool:post", "turn:end")
PROMPTS = ("Look.", "Look again.")
ANSWER = "It says 42."


async def suspend(times: int = 1) -> None:
    for _ in range(times):
        await anyio.lowlevel.checkpoint()


class Provider:
    """Asks for the tool until there is a result behind the last prompt, then answers."""

    name = "scripted"

    def __init__(self, calls: int) -> None:
        self.calls = calls

    async def complete(self, request: Any, **options: Any) -> ChatResponse:
        await suspend(2)
        roles = ["prompt" if m.content in PROMPTS else m.role for m in request.messages]
        if "tool" in roles[::-1][: roles[::-1].index("prompt")]:
            return ChatResponse(content=[TextBlock(text=ANSWER)])
        ids = [f"{len(request.messages)}-{number}" for number in range(self.calls)]
        return ChatResponse(
            content=[ToolCallBlock(id=id, name="look", input={}) for id in ids],
            tool_calls=[ToolCall(id=id, name="look", arguments={}) for id in ids],
        )


class Look:
    """A tool that listens to an event of its own only while it works."""

    name = "look"
    description = "Look."

    def __init__(self, hooks: Any) -> None:
        self.hooks = hooks
        self.input_schema = {"type": "object"}

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        heard = []
        unregister = self.hooks.register("look:progress", lambda *_: heard.append(1), name="look")
        try:
            await suspend()
            await self.hooks.emit("look:progress", {})
            await suspend()
        finally:
            unregister()
        return ToolResult(output={"answer": 42})


class Approvals:
    async def request_approval(
        self, prompt: str, options: list[str], seconds: float, default: str
    ) -> str:
        await suspend(2)
        return "Allow"


class Loader:
    """A loader of the given modules."""

    def __init__(self, calls: int) -> None:
        from amplifier_modules.contexts import simple
        from amplifier_modules.loops import basic, streaming

        async def provider(coordinator: Any, config: Any) -> None:
            await coordinator.mount("providers", Provider(calls))

        async def tool(coordinator: Any, config: Any) -> None:
            await coordinator.mount("tools", Look(coordinator.hooks))

        self.mounts = {
            "loop-basic": basic.mount,
            "loop-streaming": streaming.mount,
            "context-simple": simple.mount,
            "provider": provider,
            "tool": tool,
        }

    async def load(self, module_id: str, config: Any = None, **_: Any) -> Any:
        return lambda coordinator: self.mounts[module_id](coordinator, config)

    def get_on_session_ready_queue(self) -> list[Any]:
        return []

    def clear_on_session_ready_queue(self) -> None: ...

    def cleanup(self) -> None: ...


class Subject:
    """A session with two hooks, a tool and an approval, and what came out of it."""

    def __init__(self, session_class: Any, loop: str, calls: int) -> None:
        plan = {
            "session": {"orchestrator": loop, "context": "context-simple"},
            "providers": [{"module": "provider"}],
            "tools": [{"module": "tool"}],
        }
        self.loader = Loader(calls)
        self.session = session_class(
            plan, loader=self.loader, session_id="s", approval_system=Approvals()
        )
        self.begun, self.ended, self.cleaned = 0, 0, []
        hooks = self.session.coordinator.hooks
        for event in EVENTS:
            hooks.register(event, self.observe, name="observer")
        hooks.register("tool:pre", self.ask, priority=10, name="guard", timeout=30)
        hooks.register("tool:post", self.inject, priority=10, name="guard")
        self.session.coordinator.register_cleanup(lambda: self.cleaned.append(1))

    async def observe(self, event: str, data: dict[str, Any]) -> HookResult:
        self.begun += event == "execution:start"
        self.ended += event == "turn:end"
        await suspend()
        return HookResult()

    async def ask(self, event: str, data: dict[str, Any]) -> HookResult:
        await suspend()
        return HookResult(action="ask_user", approval_prompt="Look?", approval_timeout=60)

    async def inject(self, event: str, data: dict[str, Any]) -> dict[str, Any]:
        await suspend()
        return {"action": "inject_context", "context_injection": "Look twice.", "ephemeral": True}

    def registrations(self) -> dict[str, list[str]]:
        names = self.session.coordinator.hooks.list_handlers()
        return {event: listed for event, listed in names.items() if listed}

    async def history(self) -> list[dict[str, Any]]:
        return await self.session.coordinator.get("context").get_messages()


def assert_every_call_is_answered(history: list[dict[str, Any]]) -> None:
    """Check that the results of an assistant's calls, all of them, stand right behind it."""
    for index, message in enumerate(history):
        called = [call["id"] for call in message.get("tool_calls", [])]
        behind = history[index + 1 : index + 1 + len(called)]
        assert [result.get("tool_call_id") for result in behind] == called
    results = sum(message["role"] == "tool" for message in history)
    assert results == sum(len(message.get("tool_calls", [])) for message in history)


class Interrupted:
    """A coroutine in which something happens at the k-th suspension of all that share a count."""

    def __init__(self, coroutine: Any, count: list[int], at: int, act: Callable[[Any], Any]):
        self._coroutine, self._count, self._at, self._act = coroutine, count, at, act

    def __await__(self) -> Generator[Any, Any, Any]:
        try:
            awaited = self._coroutine.send(None)
            while True:
                self._count[0] += 1
                if self._count[0] == self._at and self._act(awaited):
                    awaited = self._coroutine.throw(asyncio.CancelledError())
                    continue
                try:
                    value = yield awaited
                except BaseException as error:  # noqa: BLE001 -- passed on, as by any `await`
                    awaited = self._coroutine.throw(error)
                else:
                    awaited = self._coroutine.send(value)
        except StopIteration as stop:
            return stop.value

    async def run(self) -> Any:
        return await self


async def with_the_task_cancelled(turn: Awaitable[Any], at: int) -> tuple[int, Any]:
    """Run a turn and cancel its task at the k-th suspension of any of its tasks."""
    return await _on_asyncio(turn, at, lambda task, awaited: bool(task.cancel() and False))


async def with_the_error_thrown(turn: Awaitable[Any], at: int) -> tuple[int, Any]:
    """Run a turn and throw a `CancelledError` in at the k-th suspension of any of its tasks."""

    def throw(task: asyncio.Task[Any], awaited: Any) -> bool:
        if awaited is not None:
            awaited._asyncio_future_blocking = False  # the task will never see it
        return True

    return await _on_asyncio(turn, at, throw)


async def _on_asyncio(
    turn: Awaitable[Any], at: int, act: Callable[[asyncio.Task[Any], Any], bool]
) -> tuple[int, Any]:
    count, loop, before = [0], asyncio.get_running_loop(), asyncio.all_tasks()
    tasks: list[asyncio.Task[Any]] = []

    def make_task(loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> Any:
        interrupted = Interrupted(coroutine, count, at, lambda awaited: act(tasks[0], awaited))
        tasks.append(asyncio.Task(interrupted.run(), loop=loop, **options))
        return tasks[-1]

    loop.set_task_factory(make_task)
    try:
        task = loop.create_task(turn)
        await asyncio.wait([task])
    finally:
        loop.set_task_factory(None)
    assert asyncio.all_tasks() == before, "a task outlived its turn"
    assert all(each.done() for each in tasks)
    if task.cancelled():
        return count[0], asyncio.CancelledError
    return count[0], task.result()


class CancelAt(trio.abc.Instrument):
    """Cancels a scope at the k-th suspension of the tasks that came after it."""

    def __init__(self, scope: trio.CancelScope, at: int) -> None:
        self.scope, self.at, self.count = scope, at, 0
        self.tasks: set[Any] = set()

    def task_spawned(self, task: Any) -> None:
        self.tasks.add(task)

    def task_exited(self, task: Any) -> None:
        self.tasks.discard(task)

    def after_task_step(self, task: Any) -> None:
        if task in self.tasks:
            self.count += 1
            if self.count == self.at:
                self.scope.cancel()


async def with_the_scope_cancelled(turn: Awaitable[Any], at: int) -> tuple[int, Any]:
    """Run a turn and cancel the scope around it at the k-th suspension of any of its tasks."""
    outcome: Any = None

    async def run() -> None:
        nonlocal outcome
        outcome = await turn

    living = trio.lowlevel.current_statistics().tasks_living
    with trio.CancelScope() as scope:
        instrument = CancelAt(scope, at)
        trio.lowlevel.add_instrument(instrument)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(run)
        finally:
            trio.lowlevel.remove_instrument(instrument)
    assert instrument.tasks == set(), "a task outlived its turn"
    assert trio.lowlevel.current_statistics().tasks_living == living
    return instrument.count, trio.Cancelled if outcome is None else outcome


@pytest.fixture(
    params=[
        pytest.param(("asyncio", with_the_task_cancelled), id="task"),
        pytest.param(("asyncio", with_the_error_thrown), id="error"),
        pytest.param(("trio", with_the_scope_cancelled), id="scope"),
    ]
)
def way(request: pytest.FixtureRequest) -> tuple[str, Any]:
    return request.param


@pytest.fixture
def anyio_backend(way: tuple[str, Any]) -> str:
    return way[0]


@pytest.fixture
def session_class(engine: Any) -> Any:
    return engine.AmplifierSession


@pytest.fixture
def interrupt(way: tuple[str, Any]) -> Any:
    return way[1]


async def interrupted_turn(
    session_class: Any, loop: str, calls: int, interrupt: Any, at: int
) -> tuple[int, Any]:
    """Run a turn that is interrupted at one suspension, and check all that must hold then.

    Returns:
        How often the turn was suspended, and what came of it.
    """
    subject = Subject(session_class, loop, calls)
    session = subject.session
    await session.initialize()
    token, before = session.coordinator.cancellation, subject.registrations()

    count, outcome = await interrupt(session.execute(PROMPTS[0]), at)

    assert subject.registrations() == before
    assert token.running_tools == set()
    assert not token.is_cancelled
    assert_every_call_is_answered(await subject.history())
    assert session.initialized

    assert await session.execute(PROMPTS[1]) == ANSWER
    assert subject.registrations() == before
    history = await subject.history()
    assert_every_call_is_answered(history)
    assert history[-1]["role"] == "assistant"
    assert [m["content"] for m in history if m["role"] == "user"][-1] == PROMPTS[1]

    await session.cleanup()
    assert subject.cleaned == [1]
    return count, outcome


@pytest.mark.parametrize("loop", ["loop-basic", "loop-streaming"])
@pytest.mark.parametrize("calls", [1, 2])
async def test_a_turn_can_be_cancelled_at_every_await(session_class, loop, calls, interrupt):
    """Every suspension is one of the turn's tasks giving way to the event loop."""
    suspensions, answer = await interrupted_turn(session_class, loop, calls, interrupt, at=0)
    assert answer == ANSWER
    assert suspensions > 15

    outcomes = set()
    for at in range(1, suspensions + 1):
        count, outcome = await interrupted_turn(session_class, loop, calls, interrupt, at)
        assert count >= at
        outcomes.add(outcome)
    gc.collect()  # a coroutine that was never awaited would warn here

    # Thrown into a hook, a bare error is that hook's own failure; a cancellation is the turn's.
    survived = {ANSWER} if interrupt is with_the_error_thrown else set()
    assert outcomes - survived in ({asyncio.CancelledError}, {trio.Cancelled})


async def test_a_session_can_be_cancelled_at_every_await_of_its_initialisation(
    session_class, interrupt
):
    suspensions, _ = await interrupted_beginning(session_class, interrupt, at=0)
    assert suspensions == 2 * 4

    for at in range(1, suspensions + 1):
        _, outcome = await interrupted_beginning(session_class, interrupt, at)
        assert outcome in (asyncio.CancelledError, trio.Cancelled)


async def interrupted_beginning(session_class: Any, interrupt: Any, at: int) -> tuple[int, Any]:
    """Initialise a session whose modules suspend, are interrupted, and are asked again."""
    subject = Subject(session_class, "loop-basic", calls=1)
    session = subject.session
    loader = subject.loader
    undone: list[str] = []

    def suspending(name: str, mount: Any) -> Any:
        async def suspended(coordinator: Any, config: Any) -> Any:
            await suspend()
            await mount(coordinator, config)
            await suspend()
            return lambda: undone.append(name)

        return suspended

    loader.mounts = {name: suspending(name, mount) for name, mount in loader.mounts.items()}
    before = subject.registrations()

    outcome = await interrupt(session.initialize(), at)

    assert session.initialized == (at == 0)
    assert subject.registrations() == before
    await session.initialize()
    assert session.initialized
    assert await session.execute(PROMPTS[0]) == ANSWER
    await session.cleanup()
    assert undone[:4] == ["tool", "provider", "context-simple", "loop-basic"]
    return outcome


async def test_a_clean_up_can_be_cancelled_at_every_await(session_class, interrupt):
    suspensions, _ = await interrupted_end(session_class, interrupt, at=0)
    assert suspensions == 3 + 1

    for at in range(1, suspensions + 1):
        await interrupted_end(session_class, interrupt, at)


async def interrupted_end(session_class: Any, interrupt: Any, at: int) -> tuple[int, Any]:
    """Clean a session up; whatever interrupts that, each clean-up function begins just once."""
    subject = Subject(session_class, "loop-basic", calls=1)
    session = subject.session
    session.coordinator.hooks.register("session:end", subject.observe)
    ran: list[int] = []

    def cleans(number: int) -> Callable[[], Awaitable[None]]:
        async def clean() -> None:
            ran.append(number)
            await suspend()

        return clean

    for number in range(3):
        session.coordinator.register_cleanup(cleans(number))
    await session.initialize()

    outcome = await interrupt(session.cleanup(), at)
    await session.cleanup()

    assert ran == [2, 1, 0]
    assert subject.cleaned == [1]
    assert not session.initialized
    return outcome
