"""What `hooks.emit` costs with 0 to 100 async handlers that return None."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from side_by_side import Figure, Times, run, time_each

Handler = Callable[[str, dict[str, Any]], Awaitable[None]]

EVENT = "tool:pre"
PAYLOAD: dict[str, Any] = {"tool_name": "grep", "tool_input": {"pattern": "def main", "limit": 20}}


def handlers(count: int) -> list[Handler]:
    """As many distinct handlers that have nothing to say."""

    def handler() -> Handler:
        async def silent(event: str, data: dict[str, Any]) -> None:
            return None

        return silent

    return [handler() for _ in range(count)]


async def emit(count: int) -> float:
    """The cost of one emit with so many handlers."""
    from amplifier_core import HookRegistry

    hooks = HookRegistry()
    hooks.set_default_fields(session_id="bench", parent_id=None)
    for number, handler in enumerate(handlers(count)):
        hooks.register(EVENT, handler, 0, name=f"silent-{number}")

    async def repeat(times: int) -> None:
        for _ in range(times):
            await hooks.emit(EVENT, PAYLOAD)

    return await time_each(repeat)


async def bare_loop(count: int) -> float:
    """The cost of awaiting so many handlers without any registry."""
    silent = handlers(count)

    async def repeat(times: int) -> None:
        for _ in range(times):
            for handler in silent:
                await handler(EVENT, PAYLOAD)

    return await time_each(repeat)


def measure() -> Times:
    """All cases, in one process and one loop each."""
    times = {f"emit {count}": asyncio.run(emit(count)) for count in (0, 1, 10, 100)}
    return times | {"bare loop": asyncio.run(bare_loop(10))}


if __name__ == "__main__":
    run(
        __file__,
        measure,
        "hooks.emit",
        [
            Figure("no handler", "emit 0", times_faster=100),
            Figure("1 handler", "emit 1", times_faster=100),
            Figure("10 handlers", "emit 10", times_faster=200),
            Figure("100 handlers", "emit 100", times_faster=200),
            Figure("10 handlers against a bare loop", "emit 10", share=8, against="bare loop"),
        ],
    )
