"""What `hooks.emit` costs with async handlers that each return a new `HookResult`."""

from __future__ import annotations

import asyncio
from typing import Any

from side_by_side import Figure, Times, run, time_each

EVENT = "tool:pre"
PAYLOAD: dict[str, Any] = {"tool_name": "grep", "tool_call_id": "call-1"}


def answering() -> Any:
    """A handler that has looked and has no objection."""
    from amplifier_core.models import HookResult

    async def answer(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="continue")

    return answer


async def emit(count: int) -> float:
    """The cost of one emit with so many handlers."""
    from amplifier_core import HookRegistry

    hooks = HookRegistry()
    hooks.set_default_fields(session_id="bench", parent_id=None)
    for number in range(count):
        hooks.register(EVENT, answering(), 0, name=f"answering-{number}")

    async def repeat(times: int) -> None:
        for _ in range(times):
            await hooks.emit(EVENT, PAYLOAD)

    return await time_each(repeat)


async def bare_loop(count: int) -> float:
    """The cost of awaiting so many handlers without any registry."""
    handlers = [answering() for _ in range(count)]

    async def repeat(times: int) -> None:
        for _ in range(times):
            for handler in handlers:
                await handler(EVENT, PAYLOAD)

    return await time_each(repeat)


def measure() -> Times:
    """All cases in one process, each in a loop of its own."""
    times = {f"answers {count}": asyncio.run(emit(count)) for count in (1, 10, 100)}
    return times | {"bare loop": asyncio.run(bare_loop(10))}


if __name__ == "__main__":
    run(
        __file__,
        measure,
        "hooks.emit, new HookResult",
        [
            Figure("1 handler", "answers 1", times_faster=50),
            Figure("10 handlers", "answers 10", times_faster=50),
            Figure("100 handlers", "answers 100", times_faster=50),
            Figure("10 handlers against a bare loop", "answers 10", share=2, against="bare loop"),
        ],
    )
