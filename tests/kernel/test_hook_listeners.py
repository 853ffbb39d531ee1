"""What listens to an event gets the caller's own data, before any hook, and cannot judge."""

from __future__ import annotations

from typing import Any

from amplifier_core import HookResult


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
