"""Which events an observer of a session sees."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_agent.observer import Observer
from amplifier_core import HookResult, ModuleCoordinator
from amplifier_core.events import ALL_EVENTS

UNLISTED = ["turn:start", "turn:end", "llm:pre", "llm:post", "session:config"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def observed(coordinator: Any) -> tuple[Observer, list[str]]:
    seen: list[str] = []
    return Observer(coordinator, lambda event, _: seen.append(event)), seen


async def test_every_event_of_the_kernel_once() -> None:
    coordinator: Any = ModuleCoordinator()
    observer, seen = observed(coordinator)
    observer.start()
    for event in [*ALL_EVENTS, *UNLISTED]:
        await coordinator.hooks.emit(event, {})
    assert seen == [*ALL_EVENTS, *UNLISTED]


async def test_events_that_modules_add() -> None:
    coordinator: Any = ModuleCoordinator()
    for names in (["disk:slow", "tool:pre"], "net:down", ["disk:slow"], None, 7, [None, "a:b"]):
        coordinator.register_contributor("observability.events", "m", lambda names=names: names)
    coordinator.register_capability("observability.events", ["by:capability"])
    observer, seen = observed(coordinator)
    observer.start()
    await observer.add_contributed()
    added = ["disk:slow", "net:down", "a:b", "by:capability", "tool:pre"]
    for event in added:
        await coordinator.hooks.emit(event, {})
    assert seen == added


async def test_an_event_that_a_hook_denies_is_seen() -> None:
    coordinator: Any = ModuleCoordinator()
    coordinator.hooks.register(
        "tool:pre", lambda event, data: HookResult(action="deny"), priority=-1000
    )
    observer, seen = observed(coordinator)
    observer.start()
    result = await coordinator.hooks.emit("tool:pre", {})
    assert (result.action, seen) == ("deny", ["tool:pre"])
