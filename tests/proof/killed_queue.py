"""Kills processes that queue prompts and processes that run them, and counts what was lost or run twice.

`killed_queue.py FOLDER MODE KILLS` prints the counts as JSON. At each moment a forked process sends
prompts to the one session, and one or two others go on with it; each is killed after a random time.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from killed_sessions import Place, add_line, read_lines

from amplifier_agent import Agent, ScriptedProvider
from amplifier_modules.stores import StoreError
from amplifier_modules.stores.stored_turns import read_turns

LONGEST_LIFE = 0.3
"""Seconds after which a process is killed, at most."""
FIRST = "begin"
ENDS = ("execution:start", "orchestrator:complete")


def make_agent(place: Place) -> Agent[None]:
    return Agent(ScriptedProvider(["Yes."], repeat=True), store=place.store)


async def send(place: Place) -> None:
    """Queue prompts, each with a name of its own, and note those that were acknowledged."""
    agent, number = make_agent(place), 0
    while True:
        number += 1
        prompt = f"prompt {os.getpid()}.{number}"
        add_line(place.told, prompt)
        await agent.queue("work", prompt)
        add_line(place.acknowledged, prompt)


async def work_off(place: Place, *, is_last: bool = False) -> None:
    """Go on with the session; one that another process has taken ends."""
    try:
        async with make_agent(place).session(session_id="work") as session:
            if session.has_open_turn:
                await session.resume_turn()
            while True:
                if await session.run_queued() is None:
                    if is_last:
                        return
                    await asyncio.sleep(0)
    except StoreError:
        if is_last:
            raise


async def begin(place: Place) -> None:
    async with make_agent(place).session(session_id="work") as session:
        await session.run(FIRST)


def start(work: Coroutine[Any, Any, None]) -> int:
    child = os.fork()
    if child == 0:
        asyncio.run(work)
        os._exit(0)
    work.close()
    return child


def kill(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


async def count(place: Place) -> dict[str, int]:
    """Count what should never be, and what is only for people to read."""
    store = place.open_store()
    try:
        events, left = await store.read("work"), await store.inbox("work")
    finally:
        await store.close()
    prompts = [
        each.body["message"]["content"]
        for each in events
        if each.kind == "context:message" and each.body["message"]["role"] == "user"
    ]
    run = Counter(each for each in prompts if each != FIRST)
    begun = [
        each.kind
        for each in events
        if each.kind in ENDS and not (each.kind == ENDS[0] and each.body.get("goes_on"))
    ]
    acknowledged = read_lines(place.acknowledged)
    order = [each for each in prompts if each in set(acknowledged)]
    last: dict[str, int] = {}
    jumped = 0
    for each in order:
        sender, number = each.removeprefix("prompt ").split(".")
        jumped += int(number) < last.get(sender, 0)
        last[sender] = int(number)
    return {
        "lost": len(set(acknowledged) - run.keys()),
        "run_twice": sum(each - 1 for each in run.values()),
        "never_sent": len(run.keys() - set(read_lines(place.told))),
        "out_of_order": jumped,
        "left": len(left),
        "turns_missing": abs(len(read_turns(events).ends) - len(run) - 1),
        "turns_without_end": abs(begun.count(ENDS[0]) - begun.count(ENDS[1])),
        "acknowledged": len(acknowledged),
        "run": len(run),
        "gone_on_with": sum(bool(e.body.get("goes_on")) for e in events if e.kind == ENDS[0]),
    }


def main(folder: str, mode: str, kills: str) -> None:
    place, chance = Place(Path(folder), mode), random.Random(12)
    # Whatever is imported late is there before the first fork.
    asyncio.run(begin(place))
    lives: list[tuple[float, int, Any]] = []
    killed = 0
    makers: list[Any] = [send, work_off, work_off]
    now = time.monotonic()
    lives = [(now + chance.uniform(0, LONGEST_LIFE), start(each(place)), each) for each in makers]
    while killed < int(kills):
        lives.sort(key=lambda each: each[0])
        end, child, make = lives.pop(0)
        time.sleep(max(0.0, end - time.monotonic()))
        kill(child)
        killed += 1
        life = chance.uniform(0, LONGEST_LIFE)
        lives.append((time.monotonic() + life, start(make(place)), make))
    for _, child, _ in lives:
        kill(child)
    asyncio.run(work_off(place, is_last=True))
    print(json.dumps(asyncio.run(count(place))))


if __name__ == "__main__":
    main(*sys.argv[1:])
