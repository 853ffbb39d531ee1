"""What `hooks.emit` costs with 0 to 100 async handlers that return None."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from side_by_side import Figure, Times, run, time_each

Handler = Callable[[str, dict[str, Any]], Awaitable[None]]

EVENT = "tool:pre"
FLAT: dict[str, Any] = {"tool_name": "grep", "tool_call_id": "call-1"}
NESTED: dict[str, Any] = FLAT | {"tool_input": {"pattern": "def main", "limit": 20}}


def handlers(count: int) -> list[Handler]:
    """As many distinct handlers that have nothing to say."""

    def handler() -> Handler:
        async def silent(event: str, data: dict[str, Any]) -> None:
            return None

        return silent

    return [handler() for _ in range(count)]


async def emit(count: int, payload: dict[str, Any]) -> float:
    """The cost of one emit with so many handlers, each of which gets a copy of the payload."""
    from amplifier_core import HookRegistry

    hooks = HookRegistry()
    hooks.set_default_fields(session_id="bench", parent_id=None)
    for number, handler in enumerate(handlers(count)):
        hooks.register(EVENT, handler, 0, name=f"silent-{number}")

    async def repeat(times: int) -> None:
        for _ in range(times):
            await hooks.emit(EVENT, payload)

    return await time_each(repeat)


async def bare_loop(count: int) -> float:
    """The cost of awaiting so many handlers without any registry."""
    silent = handlers(count)

    async def repeat(times: int) -> None:
        for _ in range(times):
            for handler in silent:
                await handler(EVENT, FLAT)

    return await time_each(repeat)


def measure() -> Times:
    """All cases in one process, each in a loop of its own."""
    times = {f"flat {count}": asyncio.run(emit(count, FLAT)) for count in (0, 1, 10, 100)}
    times |= {f"nested {count}": asyncio.run(emit(count, NESTED)) for count in (1, 10, 100)}
    return times | {"bare loop": asyncio.run(bare_loop(10))}


if __name__ == "__main__":
    run(
        __file__,
        measure,
        "hooks.emit",
        [
            Figure("no handler", "flat 0", times_faster=100),
            Figure("1 handler", "flat 1", times_faster=100),
            Figure("10 handlers", "flat 10", times_faster=200),
            Figure("100 handlers", "flat 100", times_faster=200),
            Figure("10 handlers against a bare loop", "flat 10", share=8, against="bare loop"),
            Figure("1 handler, a dict in the payload", "nested 1", times_faster=100),
            Figure("10 handlers, a dict in the payload", "nested 10", times_faster=200),
            Figure("100 handlers, a dict in the payload", "nested 100", times_faster=200),
        ],
    )
