"""One handler watches many events: it is called as one of its priority, and is no registration."""

from __future__ import annotations

from typing import Any

from amplifier_core import HookResult


async def test_a_watch_is_called_for_its_events_after_handlers_of_its_priority(engine):
    hooks, seen = engine.HookRegistry(), []

    def note(name: str):
        def handle(event: str, data: dict[str, Any]) -> None:
            seen.append((name, event, sorted(data)))

        return handle

    hooks.set_default_fields(session_id="s")
    hooks.register("a", note("late"), priority=1)
    hooks._watch(frozenset({"a", "b"}), note("watch"), 0, "watching")
    hooks.register("a", note("equal"), priority=0)
    hooks.register("a", note("early"), priority=-1)
    for event in ("a", "b", "c"):
        await hooks.emit(event, {"x": 1})
    fields = ["session_id", "timestamp", "x"]
    assert seen == [
        ("early", "a", fields), ("equal", "a", fields), ("watch", "a", fields), ("late", "a", fields),
        ("watch", "b", fields),
    ]  # fmt: skip


async def test_a_watch_is_awaited_and_decides_as_any_handler(engine):
    hooks = engine.HookRegistry()

    async def deny(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="deny", reason=f"no {event}")

    hooks._watch(frozenset({"a"}), deny, 0, "watching")
    result = await hooks.emit("a", {})
    assert (result.action, result.reason) == ("deny", "no a")


async def test_a_watched_event_is_heard_until_the_watch_stops_or_another_replaces_it(engine):
    hooks, seen = engine.HookRegistry(), []

    def heard() -> list[str]:
        assert [event for event in "abc" if hooks.is_heard(event)] == [
            event for event in "abc" if hooks._must_emit(event, {})
        ]
        return [event for event in "abc" if hooks._has_handlers(event)]

    hooks._watch(frozenset("a"), lambda event, data: seen.append(1), 0, "first")
    await hooks.emit("a", {})
    assert heard() == ["a"]
    hooks._watch(frozenset("ab"), lambda event, data: seen.append(2), 0, "second")
    await hooks.emit("a", {})
    assert heard() == ["a", "b"]
    hooks._stop_watch()
    await hooks.emit("a", {})
    assert (heard(), seen) == ([], [1, 2])


def test_a_watch_is_no_registration(engine):
    hooks = engine.HookRegistry()
    hooks._watch(frozenset("a"), print, 0, "watching")
    assert (hooks.list_handlers(), hooks._all_registrations(), hooks._next_serial) == ({}, [], 0)
