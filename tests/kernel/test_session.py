"""A session: initialised once, announced once, closed once, and the loop's errors as they are."""

from __future__ import annotations

import asyncio
import gc
import inspect
import weakref
from typing import Any
from unittest.mock import patch

import anyio
import pytest

from amplifier_core.llm_errors import RateLimitError
from amplifier_core.models import HookResult

PLAN = {"session": {"orchestrator": "loop", "context": "context"}}


class Loop:
    """A trivial orchestrator that answers from a script."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.calls = list(answers), []

    async def execute(self, prompt: str, **mounted: Any) -> Any:
        self.calls.append((prompt, sorted(mounted)))
        answer = self.answers.pop(0) if self.answers else "answer"
        if isinstance(answer, BaseException):
            raise answer
        return await answer(mounted) if callable(answer) else answer


class Loader:
    """A loader that mounts given modules instead of importing some."""

    def __init__(self, **modules: Any) -> None:
        self.modules, self.loaded, self.cleaned = modules, [], 0

    async def load(self, module_id: str, config: Any = None, **_: Any) -> Any:
        self.loaded.append(module_id)

        async def mount(coordinator: Any) -> Any:
            module = self.modules[module_id]
            if isinstance(module, BaseException):
                raise module
            if callable(module):
                return await module(coordinator)
            slot = {"loop": "orchestrator", "context": "context"}[module_id]
            await coordinator.mount(slot, module)
            return None

        return mount

    def get_on_session_ready_queue(self) -> list[Any]:
        return []

    def clear_on_session_ready_queue(self) -> None: ...

    def cleanup(self) -> None:
        self.cleaned += 1


def session_with(engine: Any, *answers: Any, plan: dict[str, Any] = PLAN, **arguments: Any) -> Any:
    loader = Loader(loop=Loop(*answers), context=object())
    session = engine.AmplifierSession(plan, loader=loader, **{"session_id": "s", **arguments})
    session.coordinator.mount_points["providers"]["scripted"] = object()
    return session


def loader_of(session: Any) -> Any:
    """Where a session keeps its loader before it is initialised."""
    return session.coordinator.loader or session.loader


def record(session: Any, *events: str) -> list[tuple[str, dict[str, Any]]]:
    """Record events with their data, but for what every event carries."""
    seen: list[tuple[str, dict[str, Any]]] = []

    def handler(event: str, data: dict[str, Any]) -> None:
        seen.append((event, {k: v for k, v in data.items() if k != "timestamp"}))

    for event in events:
        session.coordinator.hooks.register(event, handler)
    return seen


LIFE = ("session:start", "session:resume", "session:end", "session:config", "cancel:completed")
IDS = {"session_id": "s", "parent_id": None}


async def test_a_session_starts_once_and_ends_once_while_hooks_still_hear_it(rust):
    session = session_with(rust, "one", "two")
    seen = record(session, *LIFE)
    async with session as entered:
        assert entered is session
        session.coordinator.register_cleanup(
            lambda: session.coordinator.hooks.unregister("anything")
        )
        assert [await session.execute("a"), await session.execute("b")] == ["one", "two"]
    await session.cleanup()

    assert seen == [("session:start", IDS), ("session:end", IDS)]
    assert loader_of(session).modules["loop"].calls[0] == (
        "a",
        ["context", "coordinator", "hooks", "providers", "tools"],
    )
    assert not session.initialized


async def test_a_resumed_session_says_so_and_carries_its_metadata(engine):
    plan = {"session": {**PLAN["session"], "metadata": {"who": "me"}}}
    session = session_with(engine, plan=plan, is_resumed=True, parent_id="p")
    seen = record(session, *LIFE)
    async with session:
        await session.execute("a")
    resumed = {"session_id": "s", "parent_id": "p", "metadata": {"who": "me"}}
    assert seen[0] == ("session:resume", resumed)
    assert session.is_resumed


async def test_a_raw_configuration_is_emitted_before_every_turn_without_its_secrets(rust):
    plan = {
        "session": {**PLAN["session"], "raw": True},
        "providers": [{"config": {"api_key": "k"}}],
    }
    session = session_with(rust, plan={**plan, "providers": []}, parent_id=None)
    session.config["extra"] = {"api_key": "sk-secret"}
    seen = record(session, "session:config")
    async with session:
        await session.execute("a")
        await session.execute("b")
    assert [data["raw"]["extra"] for _, data in seen] == [{"api_key": "[REDACTED]"}] * 2


# Holds: differ-72, differ-73
@pytest.mark.parametrize(
    ("config", "error", "text"),
    [
        ({}, ValueError, "^Configuration is required$"),
        ({"session": {}}, ValueError, "^Configuration must specify session.orchestrator$"),
        ({"session": None}, ValueError, "^Configuration must specify session.orchestrator$"),
        (
            {"session": {"orchestrator": ""}},
            ValueError,
            "^Configuration must specify session.orchestrator$",
        ),
        (
            {"session": {"orchestrator": "x"}},
            ValueError,
            "^Configuration must specify session.context$",
        ),
        (5, TypeError, "`config` must be a dict with a section `session`, not `int`"),
        ("plan", TypeError, "not `str`"),
    ],
)
def test_a_wrong_configuration_says_what_is_missing(engine, config, error, text):
    with pytest.raises(error, match=text):
        engine.AmplifierSession(config)


# Holds: differ-74
def test_the_constructor_needs_no_loop_and_keeps_the_configuration_itself(engine):
    plan = {**PLAN, "odd": {float("nan"): object()}}
    approval, display = object(), object()
    session = engine.AmplifierSession(plan, approval_system=approval, display_system=display)

    assert session.config is plan
    assert session.coordinator.config is plan
    assert len(session.session_id) == 36
    assert session.coordinator.session.session_id == session.session_id
    assert session.coordinator.approval_system is approval
    assert session.coordinator.display_system is display
    assert not session.initialized


def test_execute_before_initialize_is_refused_when_it_is_called(rust):
    with pytest.raises(RuntimeError, match="Session not initialized"):
        session_with(rust).execute("a")
    with pytest.raises(TypeError):
        session_with(rust).execute(5)


async def test_what_initialize_calls_is_looked_up_when_it_is_called(rust):
    session, calls = session_with(rust), []

    async def initialize(*arguments: Any) -> None:
        calls.append(arguments)

    with patch("amplifier_core._session_init.initialize_session", initialize):
        await session.initialize()
        await session.initialize()
    assert calls == [(PLAN, session.coordinator, "s", None)]
    assert session.initialized
    assert session.coordinator.session is session


# Holds: differ-70
async def test_concurrent_initializes_load_once(engine):
    session = session_with(engine)
    began = anyio.Event()
    go = anyio.Event()
    loader = loader_of(session)
    load = loader.load

    async def slow(*arguments: Any, **options: Any) -> Any:
        began.set()
        await go.wait()
        return await load(*arguments, **options)

    loader.load = slow
    async with anyio.create_task_group() as group:
        group.start_soon(session.initialize)
        await began.wait()
        group.start_soon(session.initialize)
        group.start_soon(session.initialize)
        await anyio.wait_all_tasks_blocked()
        assert not session.initialized
        go.set()
    assert session.initialized
    assert loader.loaded == ["loop", "context"]


async def test_a_load_that_was_cancelled_is_taken_over_by_whoever_waits(engine):
    session = session_with(engine)
    loader, load, began = loader_of(session), loader_of(session).load, anyio.Event()
    attempts: list[str] = []

    async def hangs_once(*arguments: Any, **options: Any) -> Any:
        attempts.append(arguments[0])
        if len(attempts) == 1:
            began.set()
            await anyio.sleep_forever()
        return await load(*arguments, **options)

    loader.load = hangs_once
    scope = anyio.CancelScope()

    async def first() -> None:
        with scope:
            await session.initialize()

    async with anyio.create_task_group() as group:
        group.start_soon(first)
        await began.wait()
        group.start_soon(session.initialize)
        await anyio.wait_all_tasks_blocked()
        scope.cancel()
    assert session.initialized
    assert attempts == ["loop", "loop", "context"]


# Holds: differ-66
async def test_a_failed_load_is_a_runtime_error_with_its_cause_and_can_be_tried_again(engine):
    cause = KeyError("broken")
    session = session_with(engine)
    modules = loader_of(session).modules
    loop, modules["loop"] = modules["loop"], cause

    with pytest.raises(RuntimeError, match=r"^Cannot initialize without orchestrator: ") as caught:
        await session.initialize()
    assert caught.value.__cause__ is cause
    assert not session.initialized

    modules["loop"] = loop
    await session.initialize()
    assert await session.execute("a") == "answer"


async def test_a_session_that_cannot_be_entered_is_cleaned_up(engine):
    session, order = session_with(engine), []
    session.coordinator.register_cleanup(lambda: order.append("ran"))
    loader_of(session).modules["context"] = KeyError("broken")

    with pytest.raises(RuntimeError, match="Cannot initialize without context manager"):
        await session.__aenter__()
    assert order == ["ran"]
    assert loader_of(session).cleaned == 1


async def test_another_error_of_initialize_is_wrapped_once(rust):
    cause = LookupError("odd")

    async def fails(*_: Any) -> None:
        raise cause

    session = session_with(rust)
    replaced = patch("amplifier_core._session_init.initialize_session", fails)
    with replaced, pytest.raises(RuntimeError) as caught:
        await session.initialize()
    assert str(caught.value) == "Session initialization failed: LookupError: odd"
    assert caught.value.__cause__ is cause


# Holds: differ-64
@pytest.mark.parametrize(
    "error", [RateLimitError("slow down", retry_after=3.0), KeyError("k"), StopAsyncIteration()]
)
async def test_what_the_loop_raises_comes_through_as_it_is(engine, error):
    session = session_with(engine, error)
    async with session:
        with pytest.raises(type(error)) as caught:
            await session.execute("a")
    assert caught.value is error


@pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)
async def test_a_cancelled_error_of_the_loop_stays_one(engine):
    async with session_with(engine, asyncio.CancelledError("own")) as session:
        with pytest.raises(asyncio.CancelledError, match="own"):
            await session.execute("a")


async def test_an_answer_that_is_no_text_is_a_type_error(rust):
    async with session_with(rust, ["blocks"]) as session:
        with pytest.raises(TypeError, match="must return the answer as a str, not `list`"):
            await session.execute("a")


async def test_a_cancelled_turn_says_so_whether_it_answers_or_fails(rust):
    async def cancels(mounted: dict[str, Any]) -> str:
        mounted["coordinator"].cancellation.request_graceful()
        return "partial"

    async def fails(mounted: dict[str, Any]) -> str:
        mounted["coordinator"].cancellation.request_immediate()
        raise ValueError("cut")

    session = session_with(rust, cancels, fails)
    seen = record(session, "cancel:completed")
    async with session:
        assert await session.execute("a") == "partial"
        with pytest.raises(ValueError, match="cut"):
            await session.execute("b")
    assert seen == [
        ("cancel:completed", {**IDS, "was_immediate": False}),
        ("cancel:completed", {**IDS, "was_immediate": True, "error": "ValueError: cut"}),
    ]


async def test_a_cancelled_turn_without_a_text_says_so_too(rust):
    async def cancels(mounted: dict[str, Any]) -> list[str]:
        mounted["coordinator"].cancellation.request_immediate()
        return ["partial"]

    session = session_with(rust, cancels)
    seen = record(session, "cancel:completed")
    async with session:
        with pytest.raises(TypeError, match="must return the answer as a str, not `list`"):
            await session.execute("a")
    assert seen == [("cancel:completed", {**IDS, "was_immediate": True})]


async def test_cancelling_the_task_cancels_the_loop(engine):
    ended: list[str] = []

    async def hangs(mounted: dict[str, Any]) -> str:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("loop")
        return ""

    async with session_with(engine, hangs) as session:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(session.execute, "a")
                await anyio.wait_all_tasks_blocked()
                scope.cancel()
        assert await session.execute("b") == "answer"
    assert ended == ["loop"]


# Holds: differ-78
async def test_cleanup_goes_on_after_every_failure(rust, caplog):
    session = session_with(rust)
    order: list[str] = []

    async def denies(event: str, data: dict[str, Any]) -> HookResult:
        order.append(event)
        return HookResult(action="deny")

    def exits() -> None:
        raise SystemExit(3)

    session.coordinator.hooks.register("session:end", denies)
    await session.initialize()
    session.coordinator.register_cleanup(lambda: order.append("function"))
    session.coordinator.register_cleanup(exits)
    await session.cleanup()
    await session.cleanup()

    assert order == ["session:end", "function"]
    assert loader_of(session).cleaned == 2
    assert "Error during session cleanup: SystemExit: 3" in caplog.text


async def test_leaving_a_session_that_was_never_initialized_runs_its_cleanup_functions(engine):
    session, order = session_with(engine), []
    seen = record(session, *LIFE)
    session.coordinator.register_cleanup(lambda: order.append("ran"))
    await session.__aexit__(None, None, None)
    assert order == ["ran"]
    assert seen == []


async def test_coroutines_bear_the_names_of_their_methods(engine):
    session = session_with(engine)
    pending = session.initialize()
    assert inspect.iscoroutine(pending)
    assert pending.__qualname__ == f"{engine.AmplifierSession.__name__}.initialize"
    await pending
    for name, arguments in [("execute", ("a",)), ("cleanup", ())]:
        pending = getattr(session, name)(*arguments)
        assert pending.__qualname__ == f"{engine.AmplifierSession.__name__}.{name}"
        await pending


# Holds: differ-36
async def test_a_dropped_session_is_freed(engine):
    class Holder:
        pass

    session, holder = session_with(engine), Holder()
    holder.session = session
    async with session:
        session.coordinator.hooks.register("e", lambda *_, kept=holder: kept)
        session.coordinator.register_capability("holder", holder)
        await session.execute("a")
    gone = weakref.ref(holder), weakref.ref(session)
    del session, holder
    gc.collect()
    assert [reference() for reference in gone] == [None, None]
