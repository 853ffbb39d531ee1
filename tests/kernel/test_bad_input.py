"""Bad input of the four classes: an error that names the thing and what was found, on both engines."""

from __future__ import annotations

import inspect
from math import nan
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_core.models import HookResult

PLAN = {"session": {"orchestrator": "loop", "context": "context"}}
CIRCULAR: dict[str, Any] = {}
CIRCULAR["self"] = CIRCULAR
NO_SURROGATES = (
    "'utf-8' codec can't encode character '\\ud800' in position 0: surrogates not allowed"
)
LONG = "x" * 5_000


def no(wanted: str, found: Any) -> str:
    shown = "'None'" if found is None else f"'{type(found).__name__}' object"
    return f"{shown} is not an instance of '{wanted}'"


def no_integer(found: Any) -> str:
    return f"'{type(found).__name__}' object cannot be interpreted as an integer"


async def result(call: Any) -> Any:
    value = call()
    return await value if inspect.isawaitable(value) else value


async def failure(call: Any) -> tuple[type, str, list[str]]:
    """Give the type, the text and the notes of what a call, or its awaitable, raises."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 -- compared whole
        await result(call)
    return type(caught.value), str(caught.value), getattr(caught.value, "__notes__", [])


def about(argument: str | None) -> list[str]:
    return [f"while processing '{argument}'"] if argument else []


def plan(**session: Any) -> dict[str, Any]:
    return {"session": {**PLAN["session"], **session}}


NO_ORCHESTRATOR = (ValueError, "Configuration must specify session.orchestrator", None)
NO_CONTEXT = (ValueError, "Configuration must specify session.context", None)
UNFOUND = "not found via entry points or filesystem"
NO_ID = "a module id is a `str` that is not empty, found"
UNSTARTED = "Cannot initialize without orchestrator"


def no_plan(found: str) -> tuple[type, str, None]:
    return TypeError, f"`config` must be a dict with a section `session`, not `{found}`", None


SESSIONS: list[tuple[dict[str, Any], tuple[type, str, str | None]]] = [
    ({"config": {}}, (ValueError, "Configuration is required", None)),
    ({"config": []}, no_plan("list")),
    ({"config": "loop"}, no_plan("str")),
    ({"config": nan}, no_plan("float")),
    ({"config": {"session": None}}, NO_ORCHESTRATOR),
    ({"config": {"session": {}}}, NO_ORCHESTRATOR),
    ({"config": {"session": ["loop"]}}, NO_ORCHESTRATOR),
    ({"config": {"session": "loop"}}, NO_ORCHESTRATOR),
    ({"config": {"sesion": PLAN["session"]}}, NO_ORCHESTRATOR),
    ({"config": plan(orchestrator="")}, NO_ORCHESTRATOR),
    ({"config": plan(orchestrator=None)}, NO_ORCHESTRATOR),
    ({"config": plan(orchestrator={})}, NO_ORCHESTRATOR),
    ({"config": plan(context=[])}, NO_CONTEXT),
    ({"config": {"session": {"orchestrator": "loop"}}}, NO_CONTEXT),
    ({"config": PLAN, "session_id": 7}, (TypeError, no("str", 7), "session_id")),
    ({"config": PLAN, "session_id": b"s"}, (TypeError, no("str", b"s"), "session_id")),
    ({"config": PLAN, "parent_id": 7}, (TypeError, no("str", 7), "parent_id")),
    ({"config": PLAN, "is_resumed": 1}, (TypeError, no("bool", 1), "is_resumed")),
    ({"config": PLAN, "is_resumed": None}, (TypeError, no("bool", None), "is_resumed")),
]


@pytest.mark.parametrize(("arguments", "expected"), SESSIONS)
async def test_a_session_says_what_is_wrong_with_its_arguments(engine, arguments, expected):
    error, text, argument = expected
    told = await failure(lambda: engine.AmplifierSession(**arguments))
    assert told == (error, text, about(argument))


LOADS: list[tuple[dict[str, Any], str]] = [
    (plan(orchestrator="nowhere"), f"Module 'nowhere' {UNFOUND}"),
    (plan(orchestrator=7), f"Module '7' {UNFOUND}: {NO_ID} `7`"),
    (plan(orchestrator=nan), f"Module 'nan' {UNFOUND}: {NO_ID} `nan`"),
    (plan(orchestrator=["loop"]), f"Module '['loop']' {UNFOUND}: {NO_ID} `['loop']`"),
    (plan(orchestrator={"module": nan}), f"Module 'nan' {UNFOUND}: {NO_ID} `nan`"),
    (plan(orchestrator=LONG), f"Module '{LONG}' {UNFOUND}"),
]


@pytest.mark.parametrize(("config", "text"), LOADS, ids=[text[:30] for _, text in LOADS])
async def test_a_session_says_what_is_wrong_with_its_orchestrator(engine, config, text):
    session = engine.AmplifierSession(config)
    told = await failure(session.initialize)
    assert told == (RuntimeError, f"{UNSTARTED}: {text}", [])


def coordinator_with(engine: Any, **settings: Any) -> Any:
    identity = SimpleNamespace(session_id="s", parent_id=None, config={"session": settings})
    return engine.ModuleCoordinator(identity)


def spoilt(coordinator: Any, tools: Any) -> Any:
    coordinator.mount_points = {"tools": tools}
    return coordinator


def inject(coordinator: Any, text: str) -> Any:
    result = HookResult(action="inject_context", context_injection=text)
    return coordinator.process_hook_result(result, "tool:post")


def unknown(slot: str) -> tuple[type, str, None]:
    known = "(there are `orchestrator`, `providers`, `tools`, `context`, `hooks`, `module-source-resolver`)"
    return ValueError, f"Unknown mount point: {slot} {known}", None


SIZE, BUDGET = "injection_size_limit", "injection_budget_per_turn"
TOTAL = "injection_limit_per_turn"
COORDINATORS: list[tuple[Any, tuple[type, str, str | None]]] = [
    (lambda c: c.mount("tool", 1), unknown("tool")),
    (lambda c: c.mount("", 1), unknown("")),
    (lambda c: c.mount(LONG, 1), unknown(LONG)),
    (lambda c: c.mount("\ud800", 1), (UnicodeEncodeError, NO_SURROGATES, "mount_point")),
    (lambda c: c.mount(None, 1), (TypeError, no("str", None), "mount_point")),
    (lambda c: c.mount("tools", 1), (ValueError, "Name required for tools", None)),
    (lambda c: c.mount("tools", None), (ValueError, "Name required for tools", None)),
    (lambda c: c.mount("tools", 1, name=7), (TypeError, no("str", 7), "name")),
    (
        lambda c: c.mount("tools", SimpleNamespace(name=7)),
        (TypeError, no("str", 7), "name"),
    ),
    (
        lambda c: c.mount("hooks", 1),
        (ValueError, "Hooks should be registered directly with the HookRegistry", None),
    ),
    (
        lambda c: spoilt(c, None).mount("tools", 1, "x"),
        (TypeError, no("dict", None), "mount_points.tools"),
    ),
    (lambda c: c.unmount("tool"), unknown("tool")),
    (lambda c: c.unmount(7), (TypeError, no("str", 7), "mount_point")),
    (lambda c: c.unmount("tools"), (ValueError, "Name required to unmount from tools", None)),
    (lambda c: c.unmount("tools", 7), (TypeError, no("str", 7), "name")),
    (lambda c: c.get("tool"), unknown("tool")),
    (lambda c: c.get(7), (TypeError, no("str", 7), "mount_point")),
    (lambda c: c.get("tools", 7), (TypeError, no("str", 7), "name")),
    (lambda c: spoilt(c, []).get("tools", "x"), (TypeError, no("dict", []), "mount_points.tools")),
    (
        lambda c: setattr(c, "mount_points", []),
        (TypeError, no("dict", []), "mount_points"),
    ),
    (
        lambda c: setattr(c, "session_state", None),
        (TypeError, no("dict", None), "session_state"),
    ),
    (lambda c: c.register_capability(7, 1), (TypeError, no("str", 7), "name")),
    (lambda c: c.register_capability("\ud800", 1), (UnicodeEncodeError, NO_SURROGATES, "name")),
    (lambda c: c.get_capability(None), (TypeError, no("str", None), "name")),
    (lambda c: c.register_contributor(7, "n", list), (TypeError, no("str", 7), "channel")),
    (lambda c: c.register_contributor("c", 7, list), (TypeError, no("str", 7), "name")),
    (lambda c: c.collect_contributions(7), (TypeError, no("str", 7), "channel")),
    (lambda c: c.request_cancel(1), (TypeError, no("bool", 1), "immediate")),
    (lambda c: c.process_hook_result(HookResult(), 7), (TypeError, no("str", 7), "event")),
    (
        lambda c: c.process_hook_result(HookResult(), "e", None),
        (TypeError, no("str", None), "hook_name"),
    ),
    (
        lambda c: c.process_hook_result({"action": "deny"}, "e"),
        (AttributeError, "'dict' object has no attribute 'action'", None),
    ),
    (
        lambda c: c.process_hook_result(None, "e"),
        (AttributeError, "'NoneType' object has no attribute 'action'", None),
    ),
]


@pytest.mark.parametrize(("call", "expected"), COORDINATORS)
async def test_a_coordinator_says_what_is_wrong(engine, call, expected):
    error, text, argument = expected
    coordinator = engine.ModuleCoordinator()
    assert await failure(lambda: call(coordinator)) == (error, text, about(argument))


@pytest.mark.parametrize("setting", [SIZE, BUDGET, TOTAL])
@pytest.mark.parametrize("value", [nan, 1.5, "10", [], {}])
async def test_a_limit_of_the_configuration_that_is_no_integer_says_so(engine, setting, value):
    coordinator = coordinator_with(engine, **{setting: value})
    told = await failure(lambda: inject(coordinator, "Look."))
    assert told == (TypeError, no_integer(value), about(f"config.session.{setting}"))


async def test_an_injection_that_is_too_long_says_how_long_it_may_be(engine):
    told = await failure(lambda: inject(coordinator_with(engine, **{SIZE: 4}), "Look."))
    assert told == (ValueError, "Context injection exceeds 4 characters", [])


@pytest.mark.parametrize("field", ["session_id", "parent_id"])
async def test_an_identity_whose_ids_are_no_text_is_refused(engine, field):
    identity = SimpleNamespace(**{"session_id": "s", "parent_id": None, "config": {}, field: 7})
    told = await failure(lambda: engine.ModuleCoordinator(identity))
    assert told == (TypeError, no("str", 7), about(field))


def listened(hooks: Any) -> Any:
    hooks.register("e", lambda event, data: None)
    return hooks


SOON = "`timeout` must be a number of seconds or None, not"
LEAST = "`timeout` must be None or at least 0 seconds, not"
CIRCLE = "circular reference in event data: a `dict` contains itself"
KEYS = "event data keys must be str, int, float, bool or None, not `tuple`"
HOOKS: list[tuple[Any, tuple[type, str, str | None]]] = [
    (lambda h: h.register(7, print), (TypeError, no("str", 7), "event")),
    (lambda h: h.register("\ud800", print), (UnicodeEncodeError, NO_SURROGATES, "event")),
    (lambda h: h.register("e", print, "1"), (TypeError, no_integer("1"), "priority")),
    (lambda h: h.register("e", print, nan), (TypeError, no_integer(nan), "priority")),
    (
        lambda h: h.register("e", print, 2**64),
        (OverflowError, "Python int too large to convert to C long", "priority"),
    ),
    (
        lambda h: h.register("e", print, 2**40),
        (OverflowError, "out of range integral type conversion attempted", "priority"),
    ),
    (lambda h: h.register("e", print, name=7), (TypeError, no("str", 7), "name")),
    (lambda h: h.register("e", print, fail_closed=1), (TypeError, no("bool", 1), "fail_closed")),
    (lambda h: h.register("e", print, timeout="1"), (TypeError, f"{SOON} `str`", "timeout")),
    (lambda h: h.register("e", print, timeout=nan), (ValueError, f"{LEAST} NaN", "timeout")),
    (lambda h: h.register("e", print, timeout=-1), (ValueError, f"{LEAST} -1", "timeout")),
    (
        lambda h: h.register("e", print, timeout=10**400),
        (OverflowError, "int too large to convert to float", "timeout"),
    ),
    (lambda h: h.unregister(7), (TypeError, no("str", 7), "name")),
    (lambda h: h.list_handlers(7), (TypeError, no("str", 7), "event")),
    (lambda h: h.emit(7, {}), (TypeError, no("str", 7), "event")),
    (lambda h: listened(h).emit("e", CIRCULAR), (ValueError, CIRCLE, None)),
    (lambda h: listened(h).emit("e", {"k": {(1, 2): 3}}), (TypeError, KEYS, None)),
    (lambda h: h.emit_and_collect(None, {}), (TypeError, no("str", None), "event")),
    (lambda h: h.emit_and_collect("e", CIRCULAR), (ValueError, CIRCLE, None)),
    (lambda h: h.emit_and_collect("e", {}, "1"), (TypeError, f"{SOON} `str`", "timeout")),
    (lambda h: h.emit_and_collect("e", {}, nan), (ValueError, f"{LEAST} NaN", "timeout")),
]


@pytest.mark.parametrize(("call", "expected"), HOOKS)
async def test_a_registry_of_hooks_says_what_is_wrong(engine, call, expected):
    error, text, argument = expected
    hooks = engine.HookRegistry()
    assert await failure(lambda: call(hooks)) == (error, text, about(argument))


NO_TOKEN = "`child` must be a cancellation token, not"
TOKENS: list[tuple[Any, tuple[type, str, str | None]]] = [
    (lambda t: t.register_child(None), (TypeError, f"{NO_TOKEN} `NoneType`", None)),
    (lambda t: t.register_child("t"), (TypeError, f"{NO_TOKEN} `str`", None)),
    (lambda t: t.register_tool_start(7, "look"), (TypeError, no("str", 7), "tool_call_id")),
    (lambda t: t.register_tool_start("1", None), (TypeError, no("str", None), "tool_name")),
    (
        lambda t: t.register_tool_start("1", "\ud800"),
        (UnicodeEncodeError, NO_SURROGATES, "tool_name"),
    ),
    (lambda t: t.register_tool_complete(7), (TypeError, no("str", 7), "tool_call_id")),
]


@pytest.mark.parametrize(("call", "expected"), TOKENS)
async def test_a_cancellation_token_says_what_is_wrong(engine, call, expected):
    error, text, argument = expected
    token = engine.CancellationToken()
    assert await failure(lambda: call(token)) == (error, text, about(argument))
    assert token.running_tools == set()
