"""What a store does while its disk fails: `store_work.py FOLDER MODE`.

It prints `stored N` for each batch that was acknowledged, and `refused …` for each error.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from amplifier_modules.stores import Claim, NewSession, StoreError, UnknownSessionError
from amplifier_modules.stores.sqlite import SqliteStore

ROUNDS = 2
"""How often it goes on, whatever went wrong before."""
BATCHES = 3
"""How many it adds in each round."""
SESSION = "work"


def make_batch(number: int) -> list[tuple[str, Any]]:
    """Return the events of a batch."""
    return [("begin", {"number": number, "text": f"{number} " * 1000}), ("end", number)]


async def claim(store: SqliteStore) -> Claim:
    try:
        return await store.claim(SESSION, "me")
    except UnknownSessionError:
        return await store.claim(SESSION, "me", new=NewSession())


async def add_batches(store: SqliteStore, first: int) -> None:
    owned = await claim(store)
    entry = await store.put(SESSION, "steer", first)
    for number in range(first, first + BATCHES):
        done = [entry] if number == first else []
        owned = await store.append(owned, make_batch(number), done=done)
        print(f"stored {number}", flush=True)
    await store.read(SESSION)
    await store.inbox(SESSION)
    await store.sessions()
    await store.end(owned)


async def work(folder: str, mode: str) -> None:
    store = SqliteStore(folder=folder, journal_mode=mode)
    for first in range(0, ROUNDS * BATCHES, BATCHES):
        try:
            await add_batches(store, first)
        except StoreError as error:
            print(f"refused {error}", flush=True)
    await store.close()


if __name__ == "__main__":
    asyncio.run(work(*sys.argv[1:]))
