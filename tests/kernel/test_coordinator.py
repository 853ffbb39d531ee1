"""The coordinator: mount points, capabilities, contributions and clean-up."""

from __future__ import annotations

import asyncio
import gc
import inspect
import logging
import re
import weakref
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
import trio


def session(**settings: Any) -> SimpleNamespace:
    return SimpleNamespace(session_id="s", parent_id="p", config={"session": settings})


def named(name: str) -> SimpleNamespace:
    return SimpleNamespace(name=name)


def test_a_new_coordinator_has_every_slot_and_the_sessions_identity(engine):
    owner = session(injection_size_limit=10)
    coordinator = engine.ModuleCoordinator(owner)

    assert coordinator.mount_points == {
        "orchestrator": None,
        "providers": {},
        "tools": {},
        "context": None,
        "hooks": coordinator.hooks,
        "module-source-resolver": None,
    }
    assert (coordinator.session_id, coordinator.parent_id) == ("s", "p")
    assert coordinator.config is owner.config
    assert coordinator.session is owner
    assert (coordinator.injection_size_limit, coordinator.injection_budget_per_turn) == (10, None)
    assert engine.ModuleCoordinator().config == {}
    assert engine.ModuleCoordinator().session_id == ""


@pytest.mark.parametrize(("session_id", "parent_id"), [(5, None), ("s", 5), (None, None)])
def test_an_id_that_is_no_text_is_refused(engine, session_id, parent_id):
    owner = SimpleNamespace(session_id=session_id, parent_id=parent_id, config={})
    with pytest.raises(TypeError, match="is not an instance of 'str'"):
        engine.ModuleCoordinator(owner)


async def test_a_mount_acts_when_it_is_called(engine):
    coordinator, tool = engine.ModuleCoordinator(), named("echo")
    pending = coordinator.mount("tools", tool)

    assert coordinator.get("tools") == {"echo": tool}
    assert inspect.iscoroutine(pending)
    assert pending.__qualname__ == f"{engine.ModuleCoordinator.__name__}.mount"
    assert await pending is None


async def test_named_slots_take_a_name_or_the_modules_own_and_single_slots_ignore_it(engine):
    coordinator, module = engine.ModuleCoordinator(), object()
    await coordinator.mount("providers", named("own"), name="given")
    await coordinator.mount("providers", named("own"))
    await coordinator.mount("orchestrator", module, name="ignored")
    await coordinator.mount("context", module)

    assert list(coordinator.get("providers")) == ["given", "own"]
    assert coordinator.get("providers", "own").name == "own"
    assert coordinator.get("providers", "missing") is None
    assert coordinator.get("orchestrator", "ignored") is module
    assert coordinator.get("hooks") is coordinator.hooks

    await coordinator.unmount("providers", "own")
    await coordinator.unmount("providers", "missing")
    await coordinator.unmount("context")
    await coordinator.unmount("hooks")
    assert list(coordinator.get("providers")) == ["given"]
    assert coordinator.get("context") is None


UNKNOWN = (
    "Unknown mount point: tool (there are `orchestrator`, `providers`, `tools`, `context`, `hooks`,"
    " `module-source-resolver`)"
)


# Holds: differ-121
@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda c: c.mount("tool", named("x")), UNKNOWN),
        (lambda c: c.get("tool"), UNKNOWN),
        (lambda c: c.unmount("tool"), UNKNOWN),
        (lambda c: c.mount("tools", object()), "Name required for tools"),
        (lambda c: c.mount("tools", named(None)), "Name required for tools"),
        (lambda c: c.unmount("tools"), "Name required to unmount from tools"),
        (
            lambda c: c.mount("hooks", object()),
            "Hooks should be registered directly with the HookRegistry",
        ),
    ],
)
def test_a_wrong_mount_says_what_is_wrong(engine, call, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        call(engine.ModuleCoordinator())


@pytest.mark.parametrize("point", ["tools", "context", "hooks"])
@pytest.mark.parametrize(
    ("call", "found"),
    [
        (lambda c, point: c.mount(point, named("own"), name=5), "int"),
        (lambda c, point: c.unmount(point, b"x"), "bytes"),
        (lambda c, point: c.get(point, ("a",)), "tuple"),
    ],
)
def test_a_name_that_is_no_text_is_refused_as_what_it_is(engine, call, found, point):
    coordinator = engine.ModuleCoordinator()
    with pytest.raises(TypeError, match=f"'{found}' object is not an instance of 'str'"):
        call(coordinator, point)
    assert coordinator.get("tools") == {}


@pytest.mark.parametrize("name", [5, b"x", object(), Mock()])
def test_a_module_whose_own_name_is_no_text_is_refused(engine, name):
    coordinator, found = engine.ModuleCoordinator(), type(name).__name__
    with pytest.raises(TypeError, match=f"'{found}' object is not an instance of 'str'"):
        coordinator.mount("tools", named(name))
    assert coordinator.get("tools") == {}


async def test_a_name_is_kept_as_a_plain_text(engine):
    class Name(str):
        __slots__ = ()

    coordinator = engine.ModuleCoordinator()
    await coordinator.mount("tools", named(Name("own")))
    await coordinator.mount("tools", named("x"), name=Name("given"))

    assert coordinator.get("tools", Name("own")).name == "own"
    assert {type(name) for name in coordinator.get("tools")} == {str}


@pytest.mark.parametrize(
    ("points", "error", "text"),
    [
        ({}, ValueError, "Unknown mount point: tools"),
        ({"tools": None}, TypeError, "'None' is not an instance of 'dict'"),
        ({"tools": ["echo"]}, TypeError, "'list' object is not an instance of 'dict'"),
    ],
)
def test_a_slot_that_somebody_spoilt_says_so(engine, points, error, text):
    coordinator = engine.ModuleCoordinator()
    coordinator.mount_points = points
    for call in (
        lambda: coordinator.mount("tools", named("x")),
        lambda: coordinator.unmount("tools", "x"),
        lambda: coordinator.get("tools", "x"),
        coordinator.to_dict,
    ):
        with pytest.raises(error, match=text):
            call()


def test_what_modules_share_is_a_dict(engine):
    coordinator, shared = engine.ModuleCoordinator(), {"k": 1}
    coordinator.session_state = shared
    for wrong in (None, [], "x"):
        with pytest.raises(TypeError, match="is not an instance of 'dict'"):
            coordinator.session_state = wrong
    assert coordinator.session_state is shared


def test_what_callers_put_into_the_mount_points_counts(engine):
    coordinator, tool = engine.ModuleCoordinator(), named("by hand")
    coordinator.mount_points["tools"]["x"] = tool
    coordinator.mount_points["providers"] = {"p": tool}

    assert coordinator.get("tools") is coordinator.mount_points["tools"]
    assert coordinator.get("tools", "x") is tool
    assert coordinator.get("providers") == {"p": tool}


def test_attributes_are_free_and_the_fixed_ones_read_only(engine):
    coordinator = engine.ModuleCoordinator()
    coordinator._tool_dispatch_context = {"call": 1}
    coordinator.session_state["k"] = 1
    assert coordinator._tool_dispatch_context == {"call": 1}
    assert coordinator.session_state == {"k": 1}
    assert engine.ModuleCoordinator().session_state == {}
    assert weakref.ref(coordinator)() is coordinator
    for name in ("config", "hooks", "session_id", "cancellation", "channels", "_cleanup_fns"):
        with pytest.raises(AttributeError):
            setattr(coordinator, name, None)


@pytest.mark.parametrize("config", [None, object(), {"session": None}, {"session": "x"}])
def test_limits_of_any_configuration_are_none(engine, config):
    coordinator = engine.ModuleCoordinator(
        SimpleNamespace(session_id="", parent_id=None, config=config)
    )
    assert coordinator.config is config
    assert coordinator.injection_size_limit is None


# Holds: differ-41
async def test_cleanup_runs_everything_once_in_reverse(engine, caplog):
    coordinator, order = engine.ModuleCoordinator(), []

    async def later() -> None:
        order.append("async")

    def fails() -> None:
        raise ValueError("broken")

    coordinator.register_cleanup(lambda: order.append("first"))
    coordinator.register_cleanup(later)
    coordinator.register_cleanup(fails)
    coordinator.register_cleanup(lambda: later())
    coordinator.register_cleanup(None)
    coordinator._cleanup_fns.extend([None, {}, 5])

    with caplog.at_level(logging.ERROR, "amplifier_core.coordinator"):
        await coordinator.cleanup()
        await coordinator.cleanup()

    assert order == ["async", "async", "first"]
    assert [record.getMessage() for record in caplog.records] == [
        "Error during cleanup: ValueError: broken"
    ]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
def test_cleanup_raises_the_first_fatal_error_when_all_have_run(engine, error):
    coordinator, order = engine.ModuleCoordinator(), []
    raised = error("the very one")

    def leaves() -> None:
        raise raised

    coordinator.register_cleanup(lambda: order.append("ran"))
    coordinator.register_cleanup(leaves)
    with pytest.raises(error) as caught:
        trio.run(coordinator.cleanup)
    assert caught.value is raised
    assert order == ["ran"]


async def test_contributions_are_collected_in_order_without_the_empty_and_the_failed(engine):
    coordinator = engine.ModuleCoordinator()

    async def later() -> list[str]:
        return ["a"]

    def fails() -> None:
        raise ValueError("broken")

    for number, callback in enumerate([later, fails, lambda: None, lambda: ["b"]]):
        coordinator.register_contributor("events", f"module-{number}", callback)

    collected = coordinator.collect_contributions("events")
    assert collected.__qualname__ == f"{engine.ModuleCoordinator.__name__}.collect_contributions"
    assert await collected == [["a"], ["b"]]
    assert await coordinator.collect_contributions("unknown") == []
    assert [entry["name"] for entry in coordinator.channels["events"]] == [
        f"module-{number}" for number in range(4)
    ]


async def test_capabilities_are_overwritten_and_absent_ones_none(engine):
    coordinator = engine.ModuleCoordinator()
    coordinator.register_capability("c", 1)
    coordinator.register_capability("c", 2)
    assert coordinator.get_capability("c") == 2
    assert coordinator.get_capability("d") is None


async def test_a_cancel_request_sets_the_level_and_nothing_else(engine):
    coordinator, fired = engine.ModuleCoordinator(), []
    coordinator.cancellation.on_cancel(lambda: fired.append(1))
    await coordinator.request_cancel()
    assert coordinator.cancellation.state == "graceful"
    await coordinator.request_cancel(immediate=True)
    assert coordinator.cancellation.state == "immediate"
    assert fired == []


# Holds: differ-40
async def test_the_description_is_plain_data(engine):
    coordinator = engine.ModuleCoordinator(None, approval_system=object())
    await coordinator.mount("tools", named("echo"))
    coordinator.register_capability("c", 1)
    expected = {
        "tools": ["echo"],
        "providers": [],
        "has_orchestrator": False,
        "has_context": False,
        "capabilities": ["c"],
        "has_approval_provider": True,
        "has_display_service": False,
    }
    assert coordinator.to_dict() == expected
    coordinator.approval_system = None
    assert coordinator.to_dict() == {**expected, "has_approval_provider": False}


def test_coordinators_in_cycles_are_collected(engine):
    coordinator = engine.ModuleCoordinator()
    coordinator.register_cleanup(lambda kept=coordinator: kept)
    coordinator.register_capability("self", coordinator)
    coordinator.hooks.register("e", lambda *_, kept=coordinator: kept)
    coordinator.itself = coordinator
    gone = weakref.ref(coordinator)
    del coordinator
    gc.collect()
    assert gone() is None
