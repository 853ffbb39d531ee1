"""A worker in a process of its own, whose tool appends to a file and waits for another one."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

from amplifier_agent import Agent, ScriptedProvider, ToolContext, tool
from amplifier_modules.stores.sqlite import SqliteStore
from amplifier_serve import Worker

FOLDER = Path(sys.argv[1])


@tool
async def work(ctx: ToolContext) -> str:
    """Append a line, and wait until the gate is open."""
    with (FOLDER / "lines").open("a") as file:
        file.write(f"{ctx.key} {ctx.epoch}\n")
    while not (FOLDER / "gate").exists():  # noqa: ASYNC110 -- of another process
        await anyio.sleep(0.01)
    with (FOLDER / "lines").open("a") as file:
        file.write(f"{ctx.key} {ctx.epoch} after\n")
    return "worked"


def say(line: str) -> None:
    print(line, flush=True)


agent = Agent(ScriptedProvider([{"tool": "work", "arguments": {}}, "done"]), tools=[work])
store = SqliteStore(folder=str(FOLDER / "sessions"))
anyio.run(Worker({"helper": agent}, store, lease=0.4, look_seconds=0.02, say=say).run)
