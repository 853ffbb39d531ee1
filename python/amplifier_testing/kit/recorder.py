"""What a provider tells its hooks."""

from __future__ import annotations

from typing import Any

import anyio.lowlevel

from amplifier_core.models import HookResult

START, DELTA, END = "content_block:start", "content_block:delta", "content_block:end"
REQUEST, RESPONSE = "llm:request", "llm:response"


class KitHooks:
    """The registry that the kit gives to a provider: it keeps each event with its data."""

    def __init__(self) -> None:
        """Begin with no event."""
        self.events: list[tuple[str, dict[str, Any]]] = []

    async def emit(self, event: str, data: dict[str, Any]) -> HookResult:
        """Keep an event. Others have their turn then, as hooks may wait for something.

        Not where a call begins and ends: a cancellation there would leave open whether it was emitted.
        """
        self.events.append((event, dict(data)))
        if event not in {REQUEST, RESPONSE}:
            await anyio.lowlevel.checkpoint()
        return HookResult(action="continue")

    def count(self, event: str) -> int:
        """Return how often an event was emitted."""
        return sum(name == event for name, _ in self.events)

    @property
    def showed_something(self) -> bool:
        """Whether a part of an answer was shown."""
        return any(name == DELTA for name, _ in self.events)


def order_problem(hooks: KitHooks) -> str | None:
    """Say what is wrong with the order of the events of blocks; None if nothing is."""
    is_open: set[int] = set()
    for event, data in hooks.events:
        if event not in {START, DELTA, END}:
            continue
        index = data.get("block_index")
        if not isinstance(index, int):
            return f"`{event}` has no `block_index`"
        if event == START:
            if index in is_open:
                return f"block {index} began twice"
            is_open.add(index)
        elif index not in is_open:
            return f"`{event}` came for block {index}, which is not open"
        elif event == END:
            is_open.remove(index)
    return None


def open_problem(hooks: KitHooks) -> str | None:
    """Say that a call was begun and is never over; None if all are.

    A block that broke off with its call needs no end: `content_block:end` is for one that is whole.
    """
    begun, over = hooks.count(REQUEST), hooks.count(RESPONSE)
    if begun > over:
        return f"`{REQUEST}` was emitted {begun} times, `{RESPONSE}` {over} times"
    return None
