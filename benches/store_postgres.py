"""What it costs to store sessions in PostgreSQL: a turn against the embedded journal, and `take`.

The server is one of this machine, with `fsync` on, as its installation has it; `TMPDIR` says on which disk
it and the files of SQLite are.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from side_by_side import Figure, Times, run

sys.path.append(str(Path(__file__).parents[1] / "tests" / "processes"))

from postgres_fixture import Database, make_database
from postgres_server import PostgresServer, list_programs
from transaction_pooler import TransactionPooler

from amplifier_agent import Agent, ScriptedProvider, tool
from amplifier_modules.stores import NewSession, Store
from amplifier_modules.stores.postgres import PostgresStore
from amplifier_modules.stores.sqlite import SqliteStore

TURNS = 60
APPENDS = 300
SESSIONS = 100_000
TAKES = 200
WORDS = "of the words that people and models use when they talk to each other about their work "


@tool
def note(text: str) -> str:
    """Note something."""
    return text


class CountingStore(PostgresStore):
    """Counts what waits for the server."""

    calls = 0

    async def _call(self, function: str, *arguments: Any) -> Any:
        self.calls += 1
        return await super()._call(function, *arguments)


async def time_turns(store: Store | None) -> float:
    """Seconds of a turn with two tool calls, one after the other."""
    calls = [{"tool": "note", "arguments": {"text": WORDS}}] * 2
    agent = Agent(ScriptedProvider([*calls, WORDS], repeat=True), tools=[note], store=store)
    taken: list[float] = []
    async with agent.session() as session:
        await session.run(WORDS)
        for _ in range(TURNS):
            started = time.perf_counter()
            await session.run(WORDS)
            taken.append(time.perf_counter() - started)
    return statistics.median(taken)


async def time_appends(store: Store) -> float:
    """Seconds of one append of four events."""
    claim = await store.claim(f"appends {time.time_ns()}", "me", new=NewSession())
    taken: list[float] = []
    for number in range(APPENDS):
        events = [("context:message", {"number": number, "text": WORDS * 2})] * 4
        started = time.perf_counter()
        claim = await store.append(claim, events)
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


async def time_takes(store: Store, take: Callable[[], Awaitable[Any]]) -> float:
    """Seconds in which one of many sessions that are due is taken."""
    taken: list[float] = []
    for _ in range(TAKES):
        started = time.perf_counter()
        assert await take() is not None
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


async def measure_turns(database: Database, folder: str) -> Times:
    """Turns and appends in both stores."""
    counting = CountingStore(dsn=database.dsn, tenant="turns")
    embedded = SqliteStore(folder=folder, journal_mode="wal")
    found: dict[str, list[float]] = {}
    for _ in range(3):
        found.setdefault("plain", []).append(await time_turns(None))
        found.setdefault("embedded", []).append(await time_turns(embedded))
        before = counting.calls
        found.setdefault("postgres", []).append(await time_turns(counting))
        found.setdefault("calls", []).append((counting.calls - before) / (TURNS + 1))
        found.setdefault("append", []).append(await time_appends(counting))
        found.setdefault("embedded append", []).append(await time_appends(embedded))
    with TransactionPooler(database.dsn) as pooler:
        dsn = database.server.make_dsn(user="service", port=pooler.port)
        pooled = PostgresStore(dsn=dsn, tenant="pooled")
        found["pooled append"] = [await time_appends(pooled)]
        await pooled.close()
    await counting.close()
    await embedded.close()
    return {name: statistics.median(each) for name, each in found.items()}


async def measure_takes(database: Database) -> Times:
    """How long a worker looks for a session that is due, among many."""
    store = PostgresStore(dsn=database.dsn, tenant="takes")
    soon = 9e9

    async def take(**options: Any) -> Any:
        return await store.take("w", now=1e6, due=soon, **options)

    times: Times = {"take limit": 1e-3}
    try:
        await store.sessions()
        for name, options in (
            ("take", {}),
            ("take of an agent", {"agents": ["a1"]}),
            ("take of those accepted", {"accepts": lambda _: True}),
        ):
            times[name] = await time_takes(store, lambda options=options: take(**options))
    finally:
        await store.close()
    return times


def fill(database: Database) -> None:
    """Add many sessions, one of a hundred of which is due."""
    database.run(
        "INSERT INTO amplifier.session (tenant, id, tree, base_seq, epoch, head, due, written, meta,"
        " agent) SELECT 'takes', 'session ' || n, n, 0, 1, 1, CASE WHEN n % 100 = 0 THEN n END, n,"
        f" '{{}}', 'a' || (n / 100 % 2) FROM generate_series(1, {SESSIONS}) AS n",
        "VACUUM ANALYZE amplifier.session",
        "SELECT 1",
    )


def measure() -> Times:
    """All cases."""
    programs = list_programs()
    server = PostgresServer(programs[-2 if len(programs) > 1 else -1])
    server.configure(fsync="on", full_page_writes="on", shared_buffers="128MB", autovacuum="on")
    try:
        server.start()
        database = make_database(server)
        with tempfile.TemporaryDirectory() as folder:
            times = asyncio.run(measure_turns(database, folder))
        fill(database)
        times |= asyncio.run(measure_takes(database))
    finally:
        server.remove()
    times["overhead"] = times["postgres"] - times["embedded"]
    times["overhead limit"] = 10e-3
    return times


FIGURES = [
    Figure("a turn with two tools, against the embedded journal and 10 ms", "overhead", share=1, against="overhead limit"),
    Figure("calls of the server in such a turn", "calls", shown=lambda count: f"{count:.1f}"),
    Figure("an append of four events, against the embedded journal", "append", against="embedded append"),
    Figure("the same behind a pooler in transaction mode, against none", "pooled append", against="append"),
    Figure("`take` among 100,000 sessions, against 1 ms", "take", share=1, against="take limit"),
    Figure("the same of one agent", "take of an agent", against="take limit"),
    Figure("the same of those that are accepted", "take of those accepted", against="take limit"),
]  # fmt: skip

if __name__ == "__main__":
    run(__file__, measure, "sessions in PostgreSQL", FIGURES, rounds_by_default=1)
