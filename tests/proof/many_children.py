"""Runs a number of sub-agents at once and prints what they took, as JSON.

python many_children.py COUNT background|foreground asyncio|trio
"""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
import time
import weakref
from pathlib import Path
from typing import Any

import anyio

from amplifier_agent import ScriptedProvider
from amplifier_core import AmplifierSession

COUNT = int(sys.argv[1])
IS_BACKGROUND = sys.argv[2] == "background"
PLAN: dict[str, Any] = {
    "session": {
        "orchestrator": {"module": "loop-streaming", "config": {"max_tasks": COUNT}},
        "context": "context-simple",
    },
    "providers": [],
    "tools": ["tool-task"],
}


def resident() -> int:
    """The memory of this process that is there, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def main() -> None:
    gate = anyio.Event()
    all_asked = anyio.Event()

    class Gated(ScriptedProvider):
        """Answers when all have asked, so that all are there at the same time."""

        asked = 0

        async def chunks(self, request: Any, **options: Any) -> Any:
            Gated.asked += 1
            if Gated.asked == COUNT:
                all_asked.set()
            await gate.wait()
            async for piece in super().chunks(request, **options):
                yield piece
            self.requests.clear()

    session = AmplifierSession(PLAN)
    coordinator: Any = session.coordinator
    await coordinator.mount("providers", Gated(["an answer"], repeat=True), name="scripted")
    await session.initialize()
    children: list[weakref.ref[Any]] = []
    spawn = coordinator.get_capability("session.spawn")
    coordinator.get_capability("session.tasks").prepare = (
        lambda child: children.append(weakref.ref(child)),
    )
    texts: list[str] = []

    async def one() -> None:
        done = await spawn("go", background=IS_BACKGROUND)
        texts.append((await spawn.result(done) if IS_BACKGROUND else done).text)

    gc.collect()
    objects, before, began = len(gc.get_objects()), resident(), time.process_time()
    async with anyio.create_task_group() as group:
        for _ in range(COUNT):
            group.start_soon(one)
        await all_asked.wait()
        living = resident() - before
        gate.set()
    seconds = time.process_time() - began
    await anyio.lowlevel.checkpoint()
    await anyio.wait_all_tasks_blocked()
    gc.collect()
    figures = {
        "answers": texts.count("an answer"),
        "cpu_seconds": seconds,
        "bytes_each": living / COUNT,
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "alive": sum(ref() is not None for ref in children),
        "made": len(children),
        "new_objects": len(gc.get_objects()) - objects - len(children) - len(texts),
        "tasks": len(spawn.tasks()),
    }
    await session.cleanup()
    print(json.dumps(figures))


anyio.run(main, backend=sys.argv[3])
