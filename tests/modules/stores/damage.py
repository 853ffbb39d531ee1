"""A file of sessions, damaged in many ways, and what a store says of each."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from amplifier_modules.stores import NewSession, StoredEvent, StoreError
from amplifier_modules.stores.sqlite import SqliteStore

Damage = Callable[[random.Random, bytes], bytes]


def flip_bit(chance: random.Random, content: bytes) -> bytes:
    """Return the content with one bit changed."""
    damaged = bytearray(content)
    damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
    return bytes(damaged)


def truncate(chance: random.Random, content: bytes) -> bytes:
    """Return the beginning of the content."""
    return content[: chance.randrange(len(content))]


async def write_sessions(folder: Path, mode: str) -> None:
    """Store a session with much in it, a sub-agent, a fork and entries of its inbox."""
    store = SqliteStore(folder=str(folder), journal_mode=mode)
    claim = await store.claim("one", "me", new=NewSession(meta={"name": "first"}))
    for number in range(30):
        message = {"role": "user", "content": f"message {number} " * 20}
        claim = await store.append(claim, [("context:message", message), ("tool:start", [number])])
    claim = await store.append(claim, [("long", "x" * 80_000)], meta={"name": "renamed"})
    first = await store.put("one", "steer", "left")
    await store.put("one", "steer", "right")
    claim = await store.append(claim, [("steered", "left")], done=[first])
    child = await store.claim("two", "me", new=NewSession(parent="one", call="one/1"))
    await store.append(child, [("a", number) for number in range(40)])
    await store.fork("one", "three", at=20)
    await store.close()


async def read_sessions(folder: Path, mode: str) -> dict[str, Any]:
    """Return all that is stored.

    Raises:
        StoreError: A part of it cannot be read.
    """
    store = SqliteStore(folder=str(folder), journal_mode=mode)
    try:
        found: dict[str, Any] = {}
        for id in ("one", "two", "three"):
            events: list[StoredEvent] = await store.read(id)
            found[id] = (events, await store.inbox(id))
        return found
    finally:
        await store.close()


async def count_found(folder: Path, mode: str, damage: Damage, tries: int) -> dict[str, int]:
    """Damage the file so many times; count what was detected, harmless and wrong.

    Wrong is what was read without an error, and is not what was written.
    """
    await write_sessions(folder, mode)
    path = folder / "one.sessions"
    whole, expected = path.read_bytes(), await read_sessions(folder, mode)
    counts = {"detected": 0, "harmless": 0, "wrong": 0}
    chance = random.Random(7)
    for _ in range(tries):
        for name in os.listdir(folder):
            os.unlink(folder / name)
        path.write_bytes(damage(chance, whole))
        try:
            found = await read_sessions(folder, mode)
        except StoreError:
            counts["detected"] += 1
        else:
            counts["harmless" if found == expected else "wrong"] += 1
    return counts
