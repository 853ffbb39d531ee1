"""What listens to an event gets the caller's own data, before any hook, and cannot judge."""

from __future__ import annotations

from typing import Any

from amplifier_core import HookResult
from amplifier_core.events import LLM_REQUEST


async def test_a_listener_gets_the_data_itself_before_any_handler(engine):
    hooks, seen = engine.HookRegistry(), []
    data = {"result": object()}

    def denies(event: str, handed: dict[str, Any]) -> HookResult:
        seen.append("handler")
        return HookResult(action="deny")

    hooks.register("tool:post", denies, priority=-10_000_000)
    hooks._listen({"tool:post": lambda given: seen.append(given is data)})
    assert (await hooks.emit("tool:post", data)).action == "deny"
    await hooks.emit("tool:pre", data)
    assert seen == [True, "handler"]


async def test_listeners_replace_each_other_and_are_no_handlers(engine):
    hooks, seen = engine.HookRegistry(), []
    hooks._listen({"a": lambda _: seen.append(1)})
    hooks._listen({"a": lambda _: seen.append(2)})
    await hooks.emit("a", {})
    hooks._listen(None)
    await hooks.emit("a", {})
    assert (seen, hooks.list_handlers(), hooks._next_serial) == ([2], {}, 0)


async def test_a_listener_that_fails_is_logged_and_changes_nothing(engine, caplog):
    hooks = engine.HookRegistry()
    hooks._listen({"a": lambda _: 1 / 0})
    assert (await hooks.emit("a", {"b": 1})).action == "continue"
    assert caplog.messages == ["what listens to `a` failed; continuing"]
    assert caplog.records[0].name == "amplifier_core.hooks"


def test_what_nobody_but_a_listener_hears_is_told_at_once_and_needs_no_emit(engine):
    hooks, seen = engine.HookRegistry(), []
    data = {"b": 1}
    hooks._listen({"a": lambda given: seen.append(given is data)})
    assert (hooks._has_handlers("a"), hooks._must_emit("a", data)) == (False, False)
    assert not hooks._must_emit("nobody listens", data)
    assert seen == [True]


def test_what_a_handler_hears_too_is_left_to_emit(engine):
    hooks, seen = engine.HookRegistry(), []
    hooks._listen({"a": seen.append, LLM_REQUEST: seen.append})
    hooks.register("a", lambda event, data: None)
    found = [(hooks._has_handlers(each), hooks._must_emit(each, {})) for each in ("a", LLM_REQUEST)]
    assert (found, seen) == ([(True, True)] * 2, [])


def test_a_listener_that_fails_at_once_is_logged(engine, caplog):
    hooks = engine.HookRegistry()
    hooks._listen({"a": lambda _: 1 / 0})
    assert not hooks._must_emit("a", {})
    assert caplog.messages == ["what listens to `a` failed; continuing"]
