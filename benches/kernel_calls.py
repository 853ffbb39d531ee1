"""What the calls cost that a loop makes between its emits."""

from __future__ import annotations

import asyncio
import atexit
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from side_by_side import Figure, Times, run, time_each


class Tool:
    name = "tool"


async def silent() -> None:
    """A callback with nothing to do."""


def calls() -> dict[str, Callable[[int], Awaitable[None]]]:
    """Each call in a loop of its own."""
    from amplifier_core import CancellationToken, ModuleCoordinator
    from amplifier_core.models import HookResult

    coordinator, token = ModuleCoordinator(), CancellationToken()
    watched = CancellationToken()
    watched.on_cancel(silent)
    result, tool = HookResult(action="continue"), Tool()

    async def process_hook_result(times: int) -> None:
        for _ in range(times):
            await coordinator.process_hook_result(result, "tool:pre", "hook")

    async def mount(times: int) -> None:
        for _ in range(times):
            await coordinator.mount("tools", tool, name="tool")

    async def get(times: int) -> None:
        for _ in range(times):
            coordinator.get("tools", "tool")

    async def register_child(times: int) -> None:
        child: Any = CancellationToken()
        for _ in range(times):
            token.register_child(child)
            token.unregister_child(child)

    async def trigger_callbacks(times: int) -> None:
        for _ in range(times):
            await token.trigger_callbacks()

    async def trigger_callback(times: int) -> None:
        for _ in range(times):
            await watched.trigger_callbacks()

    timed = (process_hook_result, mount, get, register_child, trigger_callbacks, trigger_callback)
    return {repeat.__name__: repeat for repeat in timed}


def leave() -> None:
    """End this process at once: the reference's threads may crash it while it ends."""
    sys.stdout.flush()
    os._exit(0)


def measure() -> Times:
    """All cases in one process, each in a loop of its own."""
    atexit.register(leave)

    async def each(name: str) -> float:
        return await time_each(calls()[name])

    return {name: asyncio.run(each(name)) for name in calls()}


if __name__ == "__main__":
    run(
        __file__,
        measure,
        "kernel calls",
        [
            Figure("process_hook_result(continue)", "process_hook_result", times_faster=50),
            Figure("mount", "mount", times_faster=50),
            Figure("get", "get", times_faster=1),
            Figure("register_child, unregister_child", "register_child", times_faster=1),
            Figure("trigger_callbacks, none registered", "trigger_callbacks", times_faster=50),
            Figure("trigger_callbacks, one registered", "trigger_callback", times_faster=50),
        ],
    )
