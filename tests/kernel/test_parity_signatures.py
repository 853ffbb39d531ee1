"""Both engines have one API: the same names, parameters, defaults and messages, and they mix."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import amplifier_core
from amplifier_core import _engine

CLASSES = ["HookRegistry", "CancellationToken", "ModuleCoordinator", "AmplifierSession"]

ORDINARY = {
    "ModuleCoordinator": {"approval_system", "display_system", "loader", "session_state"},
    "AmplifierSession": {"config", "coordinator", "parent_id", "session_id"},
}
"""Attributes that are descriptors in Rust and set in `__new__` or `__init__` in Python."""


def shape(member: Any) -> Any:
    """What callers see of a member: parameters and defaults, a constant, or that it is a property."""
    if isinstance(member, str):
        return member
    if callable(member):
        parameters = list(inspect.signature(member).parameters.values())[1:]
        return [(each.name, each.kind, each.default) for each in parameters]
    return "property"


def api(cls: type) -> dict[str, Any]:
    """The public surface of a class: parameter names, kinds and defaults."""
    return {name: shape(member) for name, member in vars(cls).items() if not name.startswith("_")}


@pytest.mark.parametrize("name", CLASSES)
def test_both_engines_have_the_same_api(engines, name):
    rust, python = (getattr(engine, name) for engine in engines)
    ordinary = dict.fromkeys(ORDINARY.get(name, ()), "property")
    assert api(rust) == {**api(python), **ordinary}
    assert inspect.signature(rust) == inspect.signature(python).replace(
        parameters=[
            each.replace(annotation=inspect.Parameter.empty)
            for each in inspect.signature(python).parameters.values()
        ],
        return_annotation=inspect.Signature.empty,
    )


@pytest.mark.parametrize("name", CLASSES)
def test_every_member_says_what_it_does(engines, name):
    python = getattr(engines[1], name)
    undocumented = [
        member
        for member, value in vars(python).items()
        if (callable(value) or isinstance(value, property))
        and not member.startswith("_")
        and not inspect.getdoc(value)
    ]
    assert undocumented == []


@pytest.mark.parametrize("name", CLASSES)
def test_the_rust_class_is_a_virtual_subclass_of_the_python_class(engines, name):
    rust, python = (getattr(engine, name) for engine in engines)

    class Own(rust):
        pass

    assert rust is not python
    assert issubclass(rust, python)
    assert issubclass(Own, python)
    assert not issubclass(python, rust)
    if name == "AmplifierSession":
        assert isinstance(rust({"session": {"orchestrator": "o", "context": "c"}}), python)
    else:
        assert isinstance(rust(), python)


def test_the_submodules_hold_the_python_classes_and_the_package_the_rust_classes(engines):
    from amplifier_core import cancellation, coordinator, hooks, session

    assert hooks.HookRegistry is engines[1].HookRegistry
    assert coordinator.ModuleCoordinator is engines[1].ModuleCoordinator
    assert cancellation.CancellationToken is engines[1].CancellationToken
    assert session.AmplifierSession is engines[1].AmplifierSession
    assert sorted(hooks.__all__) == ["ContextInjection", "HookRegistry", "HookResult"]
    assert hooks.HookResult is amplifier_core.HookResult
    assert amplifier_core.HookRegistry is _engine.RustHookRegistry
    assert not hasattr(hooks.HookRegistry(), "_handlers")


def limited(size: Any) -> Any:
    config = {"session": {"injection_size_limit": size}}
    return SimpleNamespace(session_id="", parent_id=None, config=config)


PLAN = {"session": {"orchestrator": "o", "context": "c"}}

MISUSES: dict[str, Callable[[Any], Any]] = {
    "an event that is no text": lambda e: e.HookRegistry().register(5, print),
    "an event that is not UTF-8": lambda e: e.HookRegistry().register("\ud800", print),
    "a priority that is a float": lambda e: e.HookRegistry().register("e", print, 1.5),
    "a priority over 32 bits": lambda e: e.HookRegistry().register("e", print, 2**31),
    "a priority below 32 bits": lambda e: e.HookRegistry().register("e", print, -(2**31) - 1),
    "a name that is no text": lambda e: e.HookRegistry().on("e", print, 0, 5),
    "a flag that is an int": lambda e: e.HookRegistry().on("e", print, fail_closed=1),
    "a timeout that is a text": lambda e: e.HookRegistry().on("e", print, timeout="1"),
    "a negative timeout": lambda e: e.HookRegistry().on("e", print, timeout=-1.5),
    "a timeout that is not a number": lambda e: e.HookRegistry().on(
        "e", print, timeout=float("nan")
    ),
    "an emitted event that is no text": lambda e: e.HookRegistry().emit(5, {}),
    "a collected event that is no text": lambda e: e.HookRegistry().emit_and_collect(5, {}),
    "an unregistered name that is no text": lambda e: e.HookRegistry().unregister(None),
    "a listed event that is no text": lambda e: e.HookRegistry().list_handlers(5),
    "a collecting timeout that is a text": lambda e: e.HookRegistry().emit_and_collect("e", 1, "1"),
    "a slot that is no text": lambda e: e.ModuleCoordinator().mount(5, 1),
    "a slot that there is none": lambda e: e.ModuleCoordinator().get("tool"),
    "a name that cannot be a key": lambda e: e.ModuleCoordinator().mount("tools", 1, []),
    "a slot without modules": lambda e: e.ModuleCoordinator(limited(1)).get("hook"),
    "a capability that is no text": lambda e: e.ModuleCoordinator().register_capability(5, 1),
    "a capability asked by a number": lambda e: e.ModuleCoordinator().get_capability(5),
    "a channel that is no text": lambda e: e.ModuleCoordinator().register_contributor(5, "n", 1),
    "a cancel level that is no bool": lambda e: e.ModuleCoordinator().request_cancel("now"),
    "a hook result's event": lambda e: e.ModuleCoordinator().process_hook_result(None, 5),
    "mount points that are no dict": lambda e: setattr(e.ModuleCoordinator(), "mount_points", 5),
    "tokens that are a text": lambda e: setattr(
        e.ModuleCoordinator(), "_current_turn_injections", "x"
    ),
    "a limit that is a text": lambda e: e.ModuleCoordinator(limited("5")).injection_size_limit,
    "a limit that is a float": lambda e: e.ModuleCoordinator(limited(0.5)).injection_size_limit,
    "an owner without an id": lambda e: e.ModuleCoordinator(object()),
    "a tool that is no text": lambda e: e.CancellationToken().register_tool_start("1", 5),
    "a call that is no text": lambda e: e.CancellationToken().register_tool_complete(5),
    "a configuration that is a text": lambda e: e.AmplifierSession("plan"),
    "an empty configuration": lambda e: e.AmplifierSession({}),
    "a configuration without a loop": lambda e: e.AmplifierSession({"session": {"context": "c"}}),
    "an id that is no text": lambda e: e.AmplifierSession(PLAN, session_id=5),
    "a parent that is no text": lambda e: e.AmplifierSession(PLAN, parent_id=5),
    "a resumption that is no bool": lambda e: e.AmplifierSession(PLAN, is_resumed=1),
}


@pytest.mark.parametrize("name", MISUSES)
def test_both_engines_refuse_a_misuse_in_the_same_words(engines, name):
    refusals = []
    for engine in engines:
        with pytest.raises((TypeError, ValueError, OverflowError, AttributeError)) as caught:
            MISUSES[name](engine)
        refusals.append((type(caught.value), str(caught.value)))
    assert refusals[0] == refusals[1]


@pytest.mark.parametrize("name", ["session_id", "config", "hooks", "cancellation", "channels"])
def test_what_is_fixed_is_fixed_on_both(engine, name):
    with pytest.raises(AttributeError):
        setattr(engine.ModuleCoordinator(), name, None)


async def test_the_engines_mix(engines):
    rust, python = engines
    for one, other in [(rust, python), (python, rust)]:
        coordinator = one.ModuleCoordinator()
        hooks = coordinator.mount_points["hooks"] = other.HookRegistry()
        assert coordinator.get("hooks") is hooks

        parent, child = coordinator.cancellation, other.CancellationToken()
        parent.register_child(child)
        child.register_child(parent)
        await coordinator.request_cancel()
        assert child.is_graceful
        child.request_immediate()
        assert parent.is_immediate

        undo = hooks.register("e", lambda *_: {"action": "deny", "reason": "mixed"})
        result = await hooks.emit("e", {})
        assert await coordinator.process_hook_result(result, "e") is result
        coordinator.register_cleanup(undo)
        await coordinator.cleanup()
        assert hooks.list_handlers("e") == {"e": []}


async def test_a_session_in_python_runs_on_a_coordinator_in_rust(engines):
    rust, python = engines

    class Loop:
        async def execute(self, **_: Any) -> str:
            return "answer"

    session = python.AmplifierSession(PLAN, session_id="s")
    session.coordinator = rust.ModuleCoordinator(session)
    await session.coordinator.mount("orchestrator", Loop())
    await session.coordinator.mount("context", object())
    await session.coordinator.mount("providers", object(), name="p")
    session._initialized = True
    ended = []
    session.coordinator.hooks.register("session:end", lambda _, data: ended.append(data["status"]))
    async with session:
        assert await session.execute("a") == "answer"
    assert ended == ["completed"]
