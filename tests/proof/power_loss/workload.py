"""What a store does in the recorded run: `workload.py FOLDER MODE PAGES FAULT`.

PAGES is after how many of them SQLite takes the log into the file; FAULT is what is wrong with the
store, or `none`. It prints as JSON what holds after each step.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
from typing import Any

from steps import Steps, know_nothing

from amplifier_modules.stores import Claim, NewSession
from amplifier_modules.stores.sqlite import SqliteStore, folder, schema

connect = sqlite3.connect


def set_pages(pages: int) -> None:
    def connect_with_pages(*arguments: Any, **named: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **named)
        connection.execute(f"PRAGMA wal_autocheckpoint = {pages}")
        return connection

    sqlite3.connect = connect_with_pages


def plant(fault: str) -> None:
    """Take away what makes the store safe."""
    match fault:
        case "writes are not synced":
            sync = schema._connect

            def connect_unsafe(path: Any) -> sqlite3.Connection:
                connection = sync(path)
                connection.execute("PRAGMA synchronous = OFF")
                return connection

            schema._connect = connect_unsafe
        case "folders are not synced":
            folder.sync_folder = schema.sync_folder = lambda _: None
        case "a new file is not synced":
            schema.os = type("Unsynced", (), {**vars(schema.os), "fsync": lambda _: None})
        case _:
            assert fault in ("none", "work alone"), fault


async def work(place: str, mode: str) -> Steps:
    store = SqliteStore(folder=place, journal_mode=mode)
    steps = Steps(know_nothing(), name="work")

    async def claim(id: str, new: NewSession | None = None, epoch: int = 1) -> Claim:
        return await steps.do(store, store.claim(id, "me", new=new), **{id: epoch})

    async def append(claim: Claim, *events: Any, **more: Any) -> Claim:
        return await steps.do(store, store.append(claim, events, **more))

    origin = await claim("origin", NewSession(meta={"name": "first"}))
    origin = await append(origin, ("message", {"text": "hello " * 30}), ("start", [1, 2]))
    origin = await append(origin, ("long", "x" * 70_000))
    entry = await steps.do(store, store.put("origin", "steer", "left"))
    child = await claim("child", NewSession(parent="origin", call="origin/3"))
    child = await append(child, *[("work", number) for number in range(40)])
    origin = await append(origin, ("steered", "left"), done=[entry], meta={"name": "renamed"})
    await steps.do(store, store.fork("origin", "fork", at=4))
    fork = await claim("fork")
    fork = await append(fork, ("message", "another way " * 400))
    await steps.do(store, store.end(child))
    other = await claim("other", NewSession())
    other = await append(other, ("message", "for a short time"))
    await steps.do(store, store.end(other))
    await steps.do(store, store.sessions())
    await steps.do(store, store.delete("other"))
    for number in range(6):
        origin = await append(origin, ("message", f"{number} and so on " * 150), ("end", number))
    await steps.do(store, store.close())
    origin = await claim("origin", epoch=2)
    origin = await append(origin, ("message", "again"))
    await claim("late", NewSession())
    await steps.do(store, store.delete("origin"))
    await append(fork, ("message", "alone"))
    await steps.do(store, store.close())
    return steps


def main(place: str, mode: str, pages: str, fault: str) -> None:
    set_pages(int(pages))
    plant(fault)
    print(json.dumps(asyncio.run(work(place, mode)).facts))


if __name__ == "__main__":
    main(*sys.argv[1:])
