"""What the kernel costs in a turn of the shape that public loops have: one tool, two model calls."""

from __future__ import annotations

import asyncio
import atexit
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from side_by_side import Figure, Times, run, time_each

BEFORE_THE_TOOL = ("prompt:submit", "provider:request", "content_block:start", "content_block:end")
BEHIND_IT = ("provider:request", "content_block:start", "content_block:end")
JUDGED = ("prompt:submit", "provider:request", "tool:pre", "tool:post")


def public_turn(
    handlers: int, ask: Callable[[], Awaitable[None]] | None = None
) -> Callable[[], Awaitable[None]]:
    """A turn of nine emits, five of which are processed, and one tool.

    Args:
        handlers: How many listen to each event.
        ask: Asks the model, twice in each turn.
    """
    from amplifier_core import ModuleCoordinator
    from amplifier_core.models import ToolResult

    coordinator = ModuleCoordinator()
    hooks = coordinator.hooks

    async def silent(event: str, data: dict[str, Any]) -> None:
        return None

    for event in {*BEFORE_THE_TOOL, *BEHIND_IT, *JUDGED}:
        for number in range(handlers):
            hooks.register(event, silent, 0, name=f"silent-{number}")

    async def emit(event: str, data: dict[str, Any]) -> None:
        result = await hooks.emit(event, data)
        if event in JUDGED:
            await coordinator.process_hook_result(result, event, "loop")
        if event == "provider:request" and ask is not None:
            await ask()

    async def look(given: dict[str, Any]) -> ToolResult:
        return ToolResult(output=given)

    async def turn() -> None:
        for event in BEFORE_THE_TOOL:
            await emit(event, {"prompt": "What is there?", "iteration": 1})
        call = {"tool_name": "look", "tool_call_id": "1", "tool_input": {"path": "."}}
        await emit("tool:pre", call)
        result = await look(call["tool_input"])
        await emit("tool:post", {**call, "result": result.model_dump()})
        for event in BEHIND_IT:
            await emit(event, {"prompt": "What is there?", "iteration": 2})

    return turn


async def public_shape(handlers: int) -> float:
    """The cost of one such turn."""
    turn = public_turn(handlers)

    async def repeat(times: int) -> None:
        for _ in range(times):
            await turn()

    return await time_each(repeat)


def leave() -> None:
    """End this process at once: the reference's threads may crash it while it ends."""
    sys.stdout.flush()
    os._exit(0)


def measure() -> Times:
    """All cases in one process, each in a loop of its own."""
    atexit.register(leave)
    return {f"public {count}": asyncio.run(public_shape(count)) for count in (0, 1)}


if __name__ == "__main__":
    run(
        __file__,
        measure,
        "turn",
        [
            Figure("public loop shape, no handler", "public 0", times_faster=10),
            Figure("public loop shape, 1 handler", "public 1", times_faster=10),
        ],
    )
