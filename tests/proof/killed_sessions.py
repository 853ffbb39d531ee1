"""Kills a process again and again while its session works, and counts what was lost or done twice.

`killed_sessions.py FOLDER MODE KILLS`, where the mode is one of SQLite or the address of a database, prints the counts as JSON. Each attempt is a forked process
that goes on with the one session; it is killed after a random time.
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
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import Any

from amplifier_agent import Agent, ScriptedProvider, ToolContext, tool
from amplifier_core.message_models import ChatRequest
from amplifier_modules.stores import StoredEvent, UnknownSessionError
from amplifier_modules.stores.errors import UnreachableStoreError
from amplifier_modules.stores.postgres import PostgresStore
from amplifier_modules.stores.sqlite import SqliteStore

ROUNDS = 3
"""Rounds of three parallel calls in each turn."""
PROMPT = "next"
NOTE = "note "
LONGEST_LIFE = 0.3
"""Seconds after which an attempt is killed, at most."""


class Place:
    """The files of one run."""

    def __init__(self, folder: Path, mode: str) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder / "sessions"
        if mode.startswith("postgresql://"):
            config = {"dsn": mode, "tenant": str(folder)}
            self.store: dict[str, Any] = {"module": "store-postgres", "config": config}
            self.slowness = 4
        else:
            config = {"folder": str(self.folder), "journal_mode": mode}
            self.store = {"module": "store-sqlite", "config": config}
            self.slowness = 1
        self.effects = folder / "effects"
        self.acknowledged = folder / "acknowledged"
        self.told = folder / "told"
        """The steering messages that were acknowledged."""

    def open_store(self) -> SqliteStore | PostgresStore:
        is_embedded = self.store["module"] == "store-sqlite"
        return (SqliteStore if is_embedded else PostgresStore)(self.store["config"])


def add_line(path: Path, line: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(descriptor, f"{line}\n".encode())
    os.fsync(descriptor)
    os.close(descriptor)


def read_lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def answer(request: ChatRequest) -> Any:
    """Ask for the next calls of the turn, by what the history has of it, or end the turn."""
    prompts = [i for i, each in enumerate(request.messages) if each.content == PROMPT]
    last_prompt, turn = prompts[-1], len(prompts)
    done = sum(each.role == "assistant" for each in request.messages[last_prompt:])
    if done == ROUNDS:
        return f"answer {turn}"
    numbers = (f"{turn}.{done}.{place}" for place in range(3))
    return [{"tool": "add", "arguments": {"number": number}} for number in numbers]


async def work(place: Place, turns: float = inf) -> None:
    """Go on with the session, for ever or so many turns."""

    @tool
    async def add(context: ToolContext, number: str) -> str:
        """Add a line."""
        add_line(place.effects, f"{number} {context.key}")
        await asyncio.sleep(0)
        if number.endswith(".0"):
            session.steer(f"{NOTE}{number}")
            add_line(place.told, f"{NOTE}{number}")
        return number

    model = ScriptedProvider([answer], repeat=True)
    agent = Agent(model, tools=[add], store=place.store)
    async with agent.session(session_id="work") as session:
        while turns > 0:
            turns -= 1
            try:
                result = await session.resume_turn()
            except RuntimeError:
                result = await session.run(PROMPT)
            assert result.status == "completed", result
            add_line(place.acknowledged, result.text)


def live_and_die(place: Place, seconds: float) -> None:
    child = os.fork()
    if child == 0:
        with suppress(UnreachableStoreError):  # where it begins while the server does
            asyncio.run(work(place))
            os._exit(1)
        signal.pause()
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "the process ended by itself"


async def read(place: Place) -> tuple[list[StoredEvent], set[str]]:
    """Return what is stored, and the steering messages that no turn has read."""
    store = place.open_store()
    try:
        waiting = {each.body["text"] for each in await store.inbox("work")}
        return await store.read("work"), waiting
    except UnknownSessionError:
        return [], set()
    except UnreachableStoreError:  # where its server has just been killed
        await asyncio.sleep(0.1)
        return await read(place)
    finally:
        await store.close()


def count(place: Place, events: list[StoredEvent], waiting: set[str]) -> dict[str, int]:
    """Count what should never be, and what is only for people to read.

    Args:
        place: The files.
        events: What is stored.
        waiting: The steering messages that no turn has read.
    """
    effects = [line.split()[0] for line in read_lines(place.effects)]
    started = {
        e.body["tool_input"]["number"]: e.body["key"] for e in events if e.kind == "tool:start"
    }
    messages = [e.body["message"] for e in events if e.kind == "context:message"]
    results = [each for each in messages if each["role"] == "tool"]
    succeeded = {each["content"] for each in results if not each.get("is_error")}
    answers = {
        block["text"]
        for each in messages
        if each["role"] == "assistant" and not isinstance(each["content"], str)
        for block in each["content"]
        if block["type"] == "text"
    }
    notes = Counter(e["content"] for e in messages if str(e["content"]).startswith(NOTE))
    keys = Counter(line.split()[1] for line in read_lines(place.effects))
    return {
        "twice": len(effects) - len(set(effects)) + sum(each - 1 for each in keys.values()),
        "missing": len(succeeded - set(effects)),
        "unknown_to_the_journal": len(set(effects) - started.keys()),
        "lost_answers": len(set(read_lines(place.acknowledged)) - answers),
        "lost_notes": len(set(read_lines(place.told)) - notes.keys() - waiting),
        "notes_read_twice": sum(each - 1 for each in notes.values()),
        "notes": len(notes),
        "effects": len(effects),
        "unknown_outcomes": sum(
            each.get("metadata", {}).get("outcome") == "unknown" for each in results
        ),
        "events": len(events),
    }


def main(folder: str, mode: str, kills: str) -> None:
    # Whatever is imported late is there before the first fork.
    asyncio.run(work(Place(Path(folder) / "warm", mode), turns=1))
    place, chance = Place(Path(folder), mode), random.Random(11)
    worst: dict[str, int] = {}
    for number in range(int(kills)):
        live_and_die(place, chance.uniform(0, LONGEST_LIFE * place.slowness))
        if number % 10 == 9:
            counts = count(place, *asyncio.run(read(place)))
            worst = {name: max(each, worst.get(name, 0)) for name, each in counts.items()}
    print(json.dumps(worst))


if __name__ == "__main__":
    main(*sys.argv[1:])
