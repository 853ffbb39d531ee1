"""What can be done in a folder on a read-only disk: `read_only_work.py FOLDER MODE`.

It prints what it reads, and `refused …` for what it cannot write.
"""

from __future__ import annotations

import asyncio
import sys

from amplifier_agent import Agent, ScriptedProvider, tool
from amplifier_modules.stores import Claim, StoreError
from amplifier_modules.stores.sqlite import SqliteStore


@tool
async def pay() -> str:
    """Pay."""
    print("paid", flush=True)
    return "ok"


async def work(folder: str, mode: str) -> None:
    store = SqliteStore(folder=folder, journal_mode=mode)
    print(*[info.id for info in await store.sessions()])
    events = await store.read("work")
    print(*[each.kind for each in events])
    try:
        await store.append(Claim(session_id="work", epoch=1, head=len(events)), [("c", 3)])
    except StoreError as error:
        print(f"refused {error}")
    model = ScriptedProvider([{"tool": "pay", "arguments": {}}, "Done."])
    for id in ("work", "new"):
        try:
            async with Agent(model, tools=[pay], store=store).session(session_id=id) as session:
                await session.run("Pay.")
        except StoreError as error:
            print(f"refused {error}")
    print(f"asked {len(model.requests)} times")
    await store.close()


if __name__ == "__main__":
    asyncio.run(work(*sys.argv[1:]))
