"""Observers of every event: they see what was judged, and decide nothing."""

from __future__ import annotations

import functools
import gc
import logging
import weakref
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.models import HookResult


def observer(seen: list[Any], answer: Any = None):
    def handler(event: str, data: dict[str, Any]) -> Any:
        seen.append((event, data.get("n")))
        return answer

    return handler


async def test_every_event_is_seen_once_whoever_else_handles_it(engine):
    hooks, seen = engine.HookRegistry(), []
    hooks.observe(observer(seen))
    hooks.register("b", lambda *_: None)

    for number, event in enumerate(["a", "b", "a"]):
        await hooks.emit(event, {"n": number})
    await hooks.emit_and_collect("c", {"n": 3})

    assert seen == [("a", 0), ("b", 1), ("a", 2), ("c", 3)]


# Holds: agent-60
async def test_an_observer_sees_the_data_as_the_judges_left_it(engine):
    hooks, seen = engine.HookRegistry(), []
    hooks.observe(observer(seen))
    hooks.register("e", lambda *_: HookResult(action="modify", data={"n": 2}), 1)
    hooks.register("e", lambda *_: HookResult(action="deny", reason="no"), 2)

    result = await hooks.emit("e", {"n": 1})

    assert (result.action, result.reason) == ("deny", "no")
    assert seen == [("e", 2)]


@pytest.mark.parametrize("is_async", [False, True])
async def test_what_an_observer_answers_is_ignored(engine, is_async):
    hooks = engine.HookRegistry()

    async def later(_event: str, _data: dict[str, Any]) -> Any:
        return HookResult(action="deny", reason="late")

    answers = [HookResult(action="deny"), {"action": "modify", "data": {}}, "nonsense"]
    for answer in answers:
        hooks.observe(later if is_async else observer([], answer))

    result = await hooks.emit("e", {"n": 1})

    assert (result.action, result.data["n"]) == ("continue", 1)
    assert await hooks.emit_and_collect("e", {"n": 1}) == []


async def test_what_an_observer_raises_is_logged_and_the_others_are_called(engine, caplog):
    hooks, seen = engine.HookRegistry(), []

    def fail(*_: Any) -> None:
        raise ValueError("broken")

    hooks.observe(fail, "first")
    hooks.observe(observer(seen))

    with caplog.at_level(logging.ERROR):
        result = await hooks.emit("e", {"n": 1})

    assert (result.action, seen) == ("continue", [("e", 1)])
    assert [record.getMessage() for record in caplog.records] == [
        "hook `first` failed on `e`; continuing"
    ]


async def test_an_observer_is_unregistered_by_its_handle_or_its_name(engine):
    hooks, seen = engine.HookRegistry(), []
    undo = hooks.observe(observer(seen), "one")
    hooks.observe(observer(seen), "two")
    undo()
    undo()
    hooks.unregister("two")

    await hooks.emit("e", {"n": 1})

    assert seen == []
    assert repr(undo) == "<unregister 'one'>"


def test_an_observer_is_no_handler_of_an_event(engine):
    hooks = engine.HookRegistry()
    hooks.observe(observer([]))
    assert hooks.list_handlers() == {}
    assert hooks.list_handlers("e") == {"e": []}


def test_what_cannot_be_called_cannot_observe(engine):
    with pytest.raises(TypeError) as caught:
        engine.HookRegistry().observe(HookResult())
    assert str(caught.value) == (
        "the handler of every event cannot be called, found `HookResult` (must be a function of"
        " the event and its data)"
    )


def test_a_registry_that_its_observer_holds_is_freed(engine):
    hooks = engine.HookRegistry()
    hooks.observe(functools.partial(print, hooks))
    gone = weakref.ref(hooks)
    del hooks
    gc.collect()
    assert gone() is None


# Holds: agent-60
@given(
    actions=st.lists(st.sampled_from(["continue", "deny", "modify"]), max_size=5),
    observers=st.integers(min_value=0, max_value=3),
)
async def test_observers_change_no_decision(engine, actions, observers):
    plain, observed, seen = engine.HookRegistry(), engine.HookRegistry(), []
    for hooks in (plain, observed):
        for number, action in enumerate(actions):
            answer = {"action": action, "data": {"n": number}, "reason": str(number)}
            hooks.register("e", lambda *_, answer=answer: answer, name=str(number))
    for _ in range(observers):
        observed.observe(observer(seen, {"action": "deny"}))

    expected, found = await plain.emit("e", {"n": -1}), await observed.emit("e", {"n": -1})

    assert (found.action, found.reason) == (expected.action, expected.reason)
    assert (found.data or {}).get("n") == (expected.data or {}).get("n")
    judged = actions[: actions.index("deny")] if "deny" in actions else actions
    changed = [number for number, action in enumerate(judged) if action == "modify"]
    assert seen == [("e", changed[-1] if changed else -1)] * observers
