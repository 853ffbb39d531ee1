"""The two session classes: every known difference, on both sides. CONTRACTS.md lists them."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock, patch

import pytest

PLAN = {"session": {"orchestrator": "loop", "context": "context"}}


class Loop:
    """An orchestrator that answers with one value, or raises it."""

    def __init__(self, answer: Any = "answer") -> None:
        self.answer = answer

    async def execute(self, *, coordinator: Any, **_: Any) -> Any:
        if callable(self.answer):
            self.answer(coordinator)
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


class Loader:
    """A loader that mounts what it was given, and a provider with the loop."""

    def __init__(self, **modules: Any) -> None:
        self.modules, self.loads, self.cleaned = modules, 0, 0

    async def load(self, module_id: str, *_: Any, **__: Any) -> Any:
        self.loads += 1

        async def mount(coordinator: Any) -> None:
            for slot, module in self.modules.get(module_id, {}).items():
                coordinator.mount_points[slot] = module

        return mount

    def get_on_session_ready_queue(self) -> list[Any]:
        return []

    def clear_on_session_ready_queue(self) -> None: ...

    def cleanup(self) -> None:
        self.cleaned += 1


def loading(answer: Any = "answer", **slots: Any) -> Loader:
    mounted = {"orchestrator": Loop(answer), "context": object(), "providers": {"p": object()}}
    return Loader(loop={**mounted, **slots})


def made(engine: Any, answer: Any = "answer", plan: Any = PLAN, **slots: Any) -> Any:
    return engine.AmplifierSession(plan, loading(answer, **slots), session_id="s")


def listen(session: Any) -> list[tuple[str, dict[str, Any]]]:
    seen: list[tuple[str, dict[str, Any]]] = []
    common = {"session_id", "parent_id", "timestamp"}

    def handler(event: str, data: dict[str, Any]) -> None:
        seen.append((event, {key: data[key] for key in data if key not in common}))

    for event in ("start", "resume", "config", "end"):
        session.coordinator.hooks.register(f"session:{event}", handler)
    session.coordinator.hooks.register("cancel:completed", handler)
    return seen


# Holds: twin-1
async def test_execute_initializes_in_python_and_refuses_in_rust(engines):
    rust, python = map(made, engines)
    with pytest.raises(RuntimeError, match="Session not initialized"):
        rust.execute("a")
    assert await python.execute("a") == "answer"
    assert await python.execute("b") == "answer"
    assert python.loader.loads == 2


# Holds: twin-2
async def test_an_odd_error_of_initialize_is_wrapped_in_rust_and_unchanged_in_python(engines):
    error = LookupError("odd")

    async def fails(*_: Any) -> None:
        raise error

    rust, python = map(made, engines)
    with patch("amplifier_core._session_init.initialize_session", fails):
        with pytest.raises(RuntimeError, match="Session initialization failed") as wrapped:
            await rust.initialize()
        await python.initialize()
    assert wrapped.value.__cause__ is error

    second = made(engines[1])
    with patch("amplifier_core.session.initialize_session", fails):
        with pytest.raises(LookupError) as caught:
            await second.initialize()
        assert caught.value is error
    assert not second._initialized
    await second.initialize()
    assert second.initialized


# Holds: twin-3
@pytest.mark.parametrize(
    ("slot", "empty", "text"),
    [
        ("orchestrator", None, "No orchestrator module mounted"),
        ("context", None, "No context manager mounted"),
        ("providers", {}, "No providers mounted"),
    ],
)
async def test_python_checks_what_a_turn_needs_before_the_status_changes(
    engines, slot, empty, text
):
    python = made(engines[1], **{slot: empty})
    with pytest.raises(RuntimeError, match=f"^{text}$"):
        await python.execute("a")
    assert (python.status.status, python.status.last_error) == ("running", None)

    rust = made(engines[0], **{slot: empty})
    await rust.initialize()
    if slot == "orchestrator":
        with pytest.raises(RuntimeError, match=f"^{text}$"):
            await rust.execute("a")
    else:
        assert await rust.execute("a") == "answer"


# Holds: twin-4
async def test_the_raw_plan_comes_with_every_turn_in_rust_and_with_the_start_in_python(engines):
    plan = {"session": {**PLAN["session"], "raw": True, "api_key": "sk-secret"}}
    raw = {"raw": {"session": {**plan["session"], "api_key": "[REDACTED]"}}}
    heard = []
    for engine in engines:
        session = made(engine, plan=plan)
        seen = listen(session)
        await session.initialize()
        await session.execute("a")
        await session.execute("b")
        heard.append(seen)
    assert heard == [
        [("session:start", {}), ("session:config", raw), ("session:config", raw)],
        [("session:start", raw)],
    ]


# Holds: twin-5
async def test_python_keeps_a_status(engines):
    def cancels(coordinator: Any) -> None:
        coordinator.cancellation.request_graceful()

    for answer, status, error in [
        ("answer", "completed", None),
        (ValueError("broken"), "failed", {"message": "broken"}),
        (asyncio.CancelledError("own"), "failed", {"message": "own"}),
        (cancels, "cancelled", None),
    ]:
        rust, session = (made(engine, answer) for engine in engines)
        assert session.status.session_id == "s"
        if isinstance(answer, BaseException):
            with pytest.raises(type(answer)) as caught:
                await session.execute("a")
            assert caught.value is answer
        else:
            assert await session.execute("a") is answer
        assert (session.status.status, session.status.last_error) == (status, error)
        assert not hasattr(rust, "status")


# Holds: twin-6
async def test_python_remembers_the_last_error_past_a_turn_that_succeeds(engines):
    session = made(engines[1], ValueError("broken"))
    with pytest.raises(ValueError, match="broken"):
        await session.execute("a")
    loop = session.coordinator.get("orchestrator")

    loop.answer = "answer"
    await session.execute("b")
    assert (session.status.status, session.status.last_error) == (
        "completed",
        {"message": "broken"},
    )

    loop.answer = KeyError("again")
    with pytest.raises(KeyError):
        await session.execute("c")
    assert (session.status.status, session.status.last_error) == ("failed", {"message": "'again'"})


# Holds: twin-7
async def test_the_end_carries_the_status_in_python(engines):
    heard = []
    for engine in engines:
        session = made(engine)
        seen = listen(session)
        async with session:
            await session.execute("a")
        await session.cleanup()
        heard.append(seen)
    assert heard == [
        [("session:start", {}), ("session:end", {})],
        [("session:start", {}), ("session:end", {"status": "completed"})],
    ]


# Holds: twin-8
async def test_python_always_has_a_loader_and_hands_it_over_when_it_initializes(engines):
    from amplifier_core.loader import ModuleLoader

    rust, python = map(made, engines)
    assert not hasattr(rust, "loader")
    assert isinstance(rust.coordinator.loader, Loader)
    assert python.coordinator.loader is None
    await python.initialize()
    assert python.coordinator.loader is python.loader
    assert isinstance(engines[1].AmplifierSession(PLAN).loader, ModuleLoader)
    with patch("amplifier_core.session.ModuleLoader", SimpleNamespace):
        own = engines[1].AmplifierSession(PLAN)
    assert own.loader == SimpleNamespace(coordinator=own.coordinator)


# Holds: twin-9
@pytest.mark.parametrize("error", [SystemExit, asyncio.CancelledError])
async def test_python_raises_what_ends_a_cleanup_when_the_loader_has_cleaned_up(
    engines, error, caplog
):
    def exits() -> None:
        raise error("out")

    rust, python = map(made, engines)
    for session in (rust, python):
        await session.initialize()
        session.coordinator.register_cleanup(exits)
    with pytest.raises(error, match="out"):
        await python.cleanup()
    assert python.loader.cleaned == 1
    if error is SystemExit:
        await rust.cleanup()
        assert "Error during session cleanup: SystemExit: out" in caplog.text


# Holds: twin-10
async def test_python_hands_any_prompt_on_and_rust_texts_only(engines):
    rust, python = map(made, engines)
    await rust.initialize()
    for prompt in (None, 5, ["a", {"type": "image"}]):
        with patch.object(Loop, "execute", AsyncMock(return_value="answer")) as execute:
            assert await python.execute(prompt) == "answer"
        assert execute.call_args.kwargs["prompt"] is prompt
        with pytest.raises(TypeError):
            rust.execute(prompt)


# Holds: twin-11
async def test_python_returns_any_answer_and_rust_texts_only(engines):
    rust, python = (made(engine, ["blocks"]) for engine in engines)
    await rust.initialize()
    with pytest.raises(TypeError, match="must return the answer as a str, not `list`"):
        await rust.execute("a")
    assert await python.execute("a") == ["blocks"]


# Holds: twin-12
async def test_a_cancelled_failure_is_told_with_its_type_in_rust_alone(engines):
    heard = []
    for engine in engines:
        session = made(engine)

        class Fails:
            async def execute(self, coordinator: Any, **_: Any) -> str:
                coordinator.cancellation.request_immediate()
                raise ValueError("cut")

        await session.initialize()
        session.coordinator.mount_points["orchestrator"] = Fails()
        seen = listen(session)
        with pytest.raises(ValueError, match="cut"):
            await session.execute("a")
        heard.append(seen[-1])
    assert heard == [
        ("cancel:completed", {"was_immediate": True, "error": "ValueError: cut"}),
        ("cancel:completed", {"was_immediate": True, "error": "cut"}),
    ]


# Holds: twin-13
def test_no_configuration_is_a_type_error_in_rust_and_a_value_error_in_python(engines):
    rust, python = engines
    with pytest.raises(TypeError, match=r"must be a dict .* not `NoneType`"):
        rust.AmplifierSession(None)
    with pytest.raises(ValueError, match=r"^Configuration is required$"):
        python.AmplifierSession(None)


# Holds: twin-14
def test_an_empty_id_is_kept_in_rust_and_replaced_in_python(engines):
    rust, python = (engine.AmplifierSession(PLAN, session_id="") for engine in engines)
    assert rust.session_id == ""
    assert len(python.session_id) == 36


# Holds: twin-15
async def test_attributes_are_fixed_in_rust_and_ordinary_in_python(engines):
    rust, python = map(made, engines)
    for name in ("coordinator", "initialized", "config", "session_id"):
        with pytest.raises(AttributeError):
            setattr(rust, name, None)

    python._initialized = True
    python.coordinator.mount_points.update(loading("unloaded").modules["loop"])
    assert await python.execute("a") == "unloaded"
    assert python.loader.loads == 0

    calls: list[str] = []
    for name in ("initialize", "cleanup"):

        async def call(name: str = name) -> None:
            calls.append(name)

        setattr(python, name, call)
    async with python:
        assert calls == ["initialize"]
    assert calls == ["initialize", "cleanup"]


# Holds: twin-16
async def test_the_coordinator_knows_its_session_from_the_start_in_python(engines):
    rust, python = map(made, engines)
    assert rust.coordinator.session is not rust
    assert rust.coordinator.session.session_id == "s"
    await rust.initialize()
    assert rust.coordinator.session is rust
    assert python.coordinator.session is python


# Holds: twin-17
def test_python_merges_configurations(engines):
    rust, python = map(made, engines)
    base = {"a": {"b": 1, "c": {"d": 2}}, "list": [1]}
    merged = python._merge_configs(base, {"a": {"c": {"e": 3}}, "list": [2]})
    assert merged == {"a": {"b": 1, "c": {"d": 2, "e": 3}}, "list": [2]}
    assert base == {"a": {"b": 1, "c": {"d": 2}}, "list": [1]}
    assert not hasattr(rust, "_merge_configs")


def test_every_test_holds_a_difference_of_the_document():
    source = Path(__file__).read_text()
    tests = [
        part
        for part in source.split("\n\n\n")
        if re.search(r"^(async )?def test_", part, re.MULTILINE)
    ]
    assert [test for test in tests[:-1] if not test.startswith("# Holds: twin-")] == []
