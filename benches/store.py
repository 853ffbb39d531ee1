"""What it costs to store sessions in SQLite: CPU of a turn, the wait for the disk, bytes, and lists.

The waits are those of the disk of the temporary folder (`TMPDIR` names another one), each beside a bare
write of the same bytes with `fdatasync`.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pydantic_core import from_json, to_json
from side_by_side import Figure, Times, run

from amplifier_agent import Agent, ScriptedProvider
from amplifier_core.message_models import ChatRequest, ChatResponse, Message, TextBlock
from amplifier_core.models import ProviderInfo
from amplifier_modules.stores import NewSession
from amplifier_modules.stores.digests import RequestDigests, digest_request
from amplifier_modules.stores.sqlite import SqliteStore
from amplifier_modules.stores.stored_history import read_history

TURNS = 10
"""Few: what the rest of a turn costs grows with the history."""
ROUNDS = 40
APPENDS = 300
EVENTS = 100_000
MESSAGES = 1_000
FORKS = 100
ORIGIN_BYTES = 10_000_000
SESSIONS = 10_000
REQUESTS = (10, 100, 1_000)
"""Messages of the requests whose digests are made."""

WORDS = "of the words that people and models use when they talk to each other about their work "
COUNTING = """
import asyncio, sys
sys.path.insert(0, {folder!r})
import store
print(asyncio.run(store.time_turns({place!r}, {turns})))
"""


@contextmanager
def new_folder() -> Iterator[str]:
    """A folder that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        yield folder


async def time_turns(folder: str | None, turns: int = TURNS) -> float:
    """CPU seconds of a turn without tools; its session is stored if there is a folder.

    The first turn, which makes the file, is not counted.
    """
    config = {"folder": folder, "journal_mode": "wal"}
    store = None if folder is None else {"module": "store-sqlite", "config": config}
    agent = Agent(ScriptedProvider([WORDS], repeat=True), store=store)
    async with agent.session() as session:
        await session.run(WORDS)
        started = time.process_time()
        for _ in range(turns):
            await session.run(WORDS)
        return (time.process_time() - started) / turns


def measure_turns() -> Times:
    """What a store adds to a turn."""

    async def alternate() -> float:
        plain: list[float] = []
        stored: list[float] = []
        with new_folder() as folder:
            for _ in range(ROUNDS):
                plain.append(await time_turns(None))
                stored.append(await time_turns(folder))
        return statistics.median(stored) - statistics.median(plain)

    return {"turn": asyncio.run(alternate()), "turn limit": 0.3e-3}


def measure_syncs() -> Times:
    """How often a turn without tools waits for the disk, in WAL mode."""
    if shutil.which("strace") is None:
        return {}

    def count(turns: int) -> int:
        with new_folder() as folder:
            here = str(Path(__file__).parent)
            program = COUNTING.format(folder=here, place=folder, turns=turns)
            trace = Path(folder) / "trace"
            watch = ["strace", "-f", "-o", str(trace), "-e", "trace=fsync,fdatasync"]
            subprocess.run([*watch, sys.executable, "-c", program], check=True, capture_output=True)
            return trace.read_text().count("sync(")

    return {"syncs": (count(110) - count(10)) / 100, "syncs limit": 3}


async def time_appends(folder: str, mode: str) -> float:
    """Seconds of one append of four events."""
    store = SqliteStore(folder=folder, journal_mode=mode)
    claim = await store.claim("one", "me", new=NewSession())
    taken: list[float] = []
    for number in range(APPENDS):
        events = [("context:message", {"number": number, "text": WORDS * 2})] * 4
        started = time.perf_counter()
        claim = await store.append(claim, events)
        taken.append(time.perf_counter() - started)
    await store.close()
    return statistics.median(taken)


def time_bare_writes(folder: str) -> tuple[float, float]:
    """Seconds, and CPU seconds, of one bare write of as many bytes with its `fdatasync`."""
    written = to_json([{"number": 1, "text": WORDS * 2}] * 4)
    descriptor = os.open(Path(folder) / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    taken: list[float] = []
    begun = time.process_time()
    for _ in range(APPENDS):
        started = time.perf_counter()
        os.write(descriptor, written)
        os.fdatasync(descriptor)
        taken.append(time.perf_counter() - started)
    used = (time.process_time() - begun) / APPENDS
    os.close(descriptor)
    return statistics.median(taken), used


def time_plain_commits(folder: str, mode: str) -> float:
    """Seconds of one commit of four rows by SQLite alone, without a thread: the least in a mode."""
    text = to_json({"number": 1, "text": WORDS * 2}).decode()
    with closing(sqlite3.connect(Path(folder) / "plain", isolation_level=None)) as connection:
        connection.execute(f"PRAGMA journal_mode = {mode}")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE event (number INTEGER PRIMARY KEY, body TEXT)")
        taken: list[float] = []
        for _ in range(APPENDS):
            started = time.perf_counter()
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT INTO event (body) VALUES (?)", [(text,)] * 4)
            connection.execute("COMMIT")
            taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def measure_waits() -> Times:
    """A point at which a session waits, in both modes, beside a bare write."""
    found: dict[str, list[float]] = {}
    for _ in range(3):
        for mode in ("wal", "persist"):
            with new_folder() as folder:
                found.setdefault(mode, []).append(asyncio.run(time_appends(folder, mode)))
                found.setdefault(f"plain {mode}", []).append(time_plain_commits(folder, mode))
        with new_folder() as folder:
            wall, used = time_bare_writes(folder)
            found.setdefault("bare", []).append(wall)
            found.setdefault("CPU of two", []).append(2 * used)
    return {name: statistics.median(taken) for name, taken in found.items()}


async def recover(folder: str) -> Times:
    """CPU seconds in which a long session is read, and those of its bytes alone."""
    store = SqliteStore(folder=folder)
    claim = await store.claim("one", "me", new=NewSession())
    bodies = [
        {
            "number": number + 1,
            "index": number,
            "source": "turn",
            "message": {"role": "user", "content": f"{number} {WORDS}"},
        }
        for number in range(EVENTS)
    ]
    for start in range(0, EVENTS, 5_000):
        some = bodies[start : start + 5_000]
        claim = await store.append(claim, [("context:message", body) for body in some])
    texts = [to_json(body) for body in bodies]
    taken: dict[str, list[float]] = {"recovery": [], "parsing": []}
    for _ in range(3):
        started = time.process_time()
        history = read_history(await store.read("one"))
        taken["recovery"].append(time.process_time() - started)
        assert len(history.messages) == EVENTS
        del history
        started = time.process_time()
        parsed = [from_json(text) for text in texts]
        taken["parsing"].append(time.process_time() - started)
        assert parsed == bodies
        del parsed
    await store.close()
    return {name: min(each) for name, each in taken.items()}


def make_message(number: int) -> Message:
    """A message of 800 characters in the form of our contexts."""
    text = f"{number} {WORDS * 10}"[:800]
    content = [TextBlock(text=text)] if number % 2 else text
    return Message(
        role="assistant" if number % 2 else "user",
        content=content,
        metadata={"timestamp": f"2026-01-01T00:00:{number:06}+00:00"},
    )


def measure_digests() -> Times:
    """The digests of a request whose last two messages are new, and those of one by itself."""
    taken: dict[str, list[float]] = {}
    for count in REQUESTS:
        # Validated again they would be other messages.
        before, request = ChatRequest(messages=[]), ChatRequest(messages=[])
        request.messages.extend(map(make_message, range(count)))
        before.messages.extend(request.messages[:-2])
        digests = RequestDigests()
        for _ in range(ROUNDS):
            digests.digest(before)
            for name, make_digests in (("next", digests.digest), ("alone", digest_request)):
                started = time.process_time()
                made = make_digests(request)
                taken.setdefault(f"{name} {count}", []).append(time.process_time() - started)
                assert made["message_count"] == count
    return {name: statistics.median(each) for name, each in taken.items()}


def count_bytes(folder: str) -> int:
    """The bytes of all files of a folder."""
    return sum(entry.stat().st_size for entry in os.scandir(folder))


class Echo:
    """A model that keeps nothing: a scripted one copies each request."""

    name = "echo"

    def get_info(self) -> ProviderInfo:
        """Describe it."""
        return ProviderInfo(id=self.name, display_name="Echo")

    async def list_models(self) -> list[Any]:
        """List nothing."""
        return []

    async def complete(self, request: Any, **_: Any) -> ChatResponse:
        """Answer."""
        del request
        return ChatResponse(content=[TextBlock(text=WORDS)], finish_reason="end_turn")

    def parse_tool_calls(self, response: ChatResponse) -> list[Any]:
        """List nothing."""
        del response
        return []


async def converse(folder: str, messages: int) -> None:
    """Store a conversation of so many messages."""
    store = {"module": "store-sqlite", "config": {"folder": folder}}
    agent = Agent(Echo(), store=store)
    async with agent.session() as session:
        for _ in range(messages // 2):
            await session.run(WORDS)


def measure_bytes() -> Times:
    """What conversations take on the disk."""
    found: Times = {"bytes limit": 800_000}
    for name, messages in (("bytes", MESSAGES), ("twice the bytes", 2 * MESSAGES)):
        with new_folder() as folder:
            asyncio.run(converse(folder, messages))
            found[name] = count_bytes(folder)
    return found


async def fork(folder: str) -> Times:
    """What a hundred forks of a long session add, each with an event of its own."""
    store = SqliteStore(folder=folder)
    claim = await store.claim("one", "me", new=NewSession(meta={"title": "a long session"}))
    count = ORIGIN_BYTES // 1_000
    claim = await store.append(claim, [("message", "x" * 1_000)] * count)
    await store.end(claim)
    before = count_bytes(folder)
    for number in range(FORKS):
        await store.fork("one", f"fork-{number}")
        new = await store.claim(f"fork-{number}", "me")
        await store.end(await store.append(new, [("message", WORDS)]))
    await store.close()
    return {"forks": count_bytes(folder) - before, "forks limit": 200_000}


async def list_sessions(folder: str) -> Times:
    """Seconds in which all sessions are listed, without a list and with one."""
    with patch("os.fsync"):
        store = SqliteStore(folder=folder)
        for number in range(SESSIONS):
            meta = {"folder": "/home/ann/project", "title": f"session {number}", "started": 1.5}
            await store.claim(f"{number:036}", "me", new=NewSession(meta=meta))
        await store.close()
    times: Times = {"cold limit": 1.5, "list limit": 0.3}
    for name in ("cold", "list"):
        store = SqliteStore(folder=folder)
        started = time.perf_counter()
        assert len(await store.sessions()) == SESSIONS
        times[name] = time.perf_counter() - started
        await store.close()
    return times


def in_folder(measure_there: Callable[[str], Any]) -> Times:
    """Measure in a folder of its own."""
    with new_folder() as folder:
        return asyncio.run(measure_there(folder))


def measure() -> Times:
    """All cases."""
    times: Times = {}
    parts = [measure_turns, measure_syncs, measure_digests, measure_waits]
    parts += [partial(in_folder, recover)]
    parts += [measure_bytes, partial(in_folder, fork), partial(in_folder, list_sessions)]
    for part in parts:
        times |= part()
    return times


def show_bytes(count: float) -> str:
    """Write a number of bytes."""
    return f"{count / 1e3:,.0f} kB"


FIGURES = [
    Figure("CPU that a turn without tools adds, against 0.3 ms", "turn", share=1, against="turn limit"),
    Figure("of that, two bare writes with fdatasync", "CPU of two", against="turn limit"),
    Figure("syncs of such a turn in WAL, against 3", "syncs", share=1, against="syncs limit", shown=str),
    Figure("digests of a request of 10 messages, two new, against all new", "next 10", against="alone 10"),
    Figure("the same of 100 messages", "next 100", against="alone 100"),
    Figure("the same of 1,000 messages", "next 1000", share=0.3, against="alone 1000"),
    Figure("a wait in WAL, against a bare write and fdatasync", "wal", share=1.5, against="bare"),
    Figure("a commit of SQLite alone in WAL, against the same", "plain wal", against="bare"),
    Figure("a wait in PERSIST, against the same", "persist", share=3.5, against="bare"),
    Figure("a commit of SQLite alone in PERSIST, against the same", "plain persist", against="bare"),
    Figure("100,000 events recovered, against parsing them", "recovery", share=4, against="parsing"),
    Figure("1,000 messages, against 0.8 MB", "bytes", share=1, against="bytes limit", shown=show_bytes),
    Figure(
        "2,000 messages, against 1,000", "twice the bytes", share=2.1, against="bytes", shown=show_bytes
    ),
    Figure("100 forks of 10 MB, against 200 kB", "forks", share=1, against="forks limit", shown=show_bytes),
    Figure("list of 10,000 sessions, first time, against 1.5 s", "cold", share=1, against="cold limit"),
    Figure("the same later, against 0.3 s", "list", share=1, against="list limit"),
]  # fmt: skip

if __name__ == "__main__":
    run(__file__, measure, "sessions that are stored", FIGURES, rounds_by_default=1)
