"""All events of a session, including those that modules add."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from amplifier_core import events
from amplifier_modules.loops.boundary.call_context import TOOL_START
from amplifier_modules.running.session_bound import session_bound

EARLIEST = -1_000_000
"""The priority of an observer: it sees an event before another hook denies it."""
LATEST = 2**31 - 1
"""The priority of what observes steps that were allowed."""

KERNEL_EVENTS = (
    *events.ALL_EVENTS,
    events.TURN_START,
    events.TURN_END,
    events.LLM_PRE,
    events.LLM_POST,
    "session:config",
)
"""The events of the kernel and of every loop of ours."""


def choose_priority(event: str) -> int:
    """Return the priority at which an observer hears an event.

    A tool starts when nobody has denied that, and its start is stored.
    """
    return LATEST if event == TOOL_START else EARLIEST


class Observer:
    """Passes every event of a session to one function, once each.

    Args:
        coordinator: The session's coordinator.
        handle: Takes the event's name and its data; an async one is awaited.
    """

    def __init__(
        self, coordinator: Any, handle: Callable[[str, Any], Awaitable[None] | None]
    ) -> None:
        self._coordinator = coordinator
        self._handle = handle
        self._names: set[str] = set()
        self._unregister: list[Callable[[], object]] = []

    def start(self) -> None:
        """Observe the kernel's events; before `initialize`, so that none is missed."""
        self._register(KERNEL_EVENTS)

    async def add_contributed(self) -> None:
        """Observe the events that the mounted modules say they emit."""
        from amplifier_core.handlers import collect_contributed_events

        self._register(await collect_contributed_events(self._coordinator))

    def stop(self) -> None:
        """Observe no more."""
        for unregister in self._unregister:
            unregister()
        self._unregister.clear()
        self._names.clear()

    def _register(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in self._names:
                self._names.add(name)
                self._unregister.append(
                    self._coordinator.hooks.register(
                        name,
                        self._observe,
                        priority=choose_priority(name),
                        name="amplifier-agent-observer",
                    )
                )

    @session_bound
    def _observe(self, event: str, data: Any) -> Awaitable[None] | None:
        return self._handle(event, data)
