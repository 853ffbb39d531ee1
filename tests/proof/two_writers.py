"""Two processes write to one file: each to a session of its own, and to one that they take from each other.

`two_writers.py FOLDER MODE BATCHES [SQLITE]` prints counts as JSON. SQLITE is a folder with
`pysqlite3`, which then stands in for the `sqlite3` of the standard library.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

if len(sys.argv) > 4:
    sys.path.insert(0, sys.argv[4])
    import pysqlite3
    from pysqlite3 import dbapi2

    sys.modules["sqlite3"] = pysqlite3
    sys.modules["sqlite3.dbapi2"] = dbapi2

import sqlite3

from amplifier_modules.stores import Claim, NewSession, StaleOwnerError
from amplifier_modules.stores.sqlite import SqliteStore

WRITERS = 2
PAGES = 4
"""After how many pages SQLite takes its log into the file: while the other writes."""
BATCHES_OF_A_CLAIM = 3


def set_pages(connect: Callable[..., Any] = sqlite3.connect) -> None:
    def connect_with_pages(*arguments: Any, **named: Any) -> Any:
        connection = connect(*arguments, **named)
        connection.execute(f"PRAGMA wal_autocheckpoint = {PAGES}")
        return connection

    sqlite3.connect = connect_with_pages


async def write(folder: Path, mode: str, writer: int, batches: int) -> dict[str, list[str]]:
    """Write so many batches to each of two sessions; return what was acknowledged, by session."""
    store = SqliteStore(folder=str(folder / "sessions"), journal_mode=mode)
    own = f"own-{writer}"
    claims = {own: await store.claim(own, own, new=NewSession(parent="shared"))}
    acknowledged: dict[str, list[str]] = {own: [], "shared": []}
    lost = 0

    async def append(id: str, text: str) -> None:
        events = [("text", text), ("more", text * 50)]
        claims[id] = await store.append(claims[id], events)
        acknowledged[id].append(text)

    for number in range(batches):
        await append(own, f"{writer}.{number}")
        if number % BATCHES_OF_A_CLAIM == 0:
            claims["shared"] = await store.claim("shared", own)
        try:
            await append("shared", f"{writer}.{number}")
        except StaleOwnerError:
            lost += 1
    await store.close()
    return {**acknowledged, "stale": [""] * lost}


async def count(folder: Path, mode: str, said: list[dict[str, list[str]]]) -> dict[str, int]:
    store = SqliteStore(folder=str(folder / "sessions"), journal_mode=mode)
    counts: Counter[str] = Counter()
    for id in ("shared", *(f"own-{writer}" for writer in range(WRITERS))):
        texts = Counter(each.body for each in await store.read(id) if each.kind == "text")
        acknowledged = Counter(text for each in said for text in each.get(id, ()))
        counts["lost"] += (acknowledged - texts).total()
        counts["not acknowledged"] += (texts - acknowledged).total()
        counts["written"] += texts.total()
        counts["damaged"] += len(await store.verify(id))
    counts["stale"] = sum(len(each["stale"]) for each in said)
    await store.close()
    names = ("written", "stale", "lost", "not acknowledged", "damaged")
    return {name: counts[name] for name in names}


async def begin(folder: Path, mode: str) -> Claim:
    store = SqliteStore(folder=str(folder / "sessions"), journal_mode=mode)
    claim = await store.claim("shared", "first", new=NewSession())
    await store.close()
    return claim


def main(place: str, mode: str, batches: str, *_: str) -> None:
    set_pages()
    folder = Path(place)
    asyncio.run(begin(folder, mode))
    children: list[int] = []
    for writer in range(WRITERS):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                said = asyncio.run(write(folder, mode, writer, int(batches)))
                (folder / f"{writer}.json").write_text(json.dumps(said))
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * WRITERS, "a writer has failed"
    said = [json.loads((folder / f"{writer}.json").read_text()) for writer in range(WRITERS)]
    counts = asyncio.run(count(folder, mode, said))
    print(json.dumps({"sqlite": sqlite3.sqlite_version, **counts}))


if __name__ == "__main__":
    main(*sys.argv[1:])
