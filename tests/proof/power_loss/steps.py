"""Steps of work with a store, and what must be stored after each of them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Awaitable, Iterable
from typing import Any, TypeVar

from amplifier_modules.stores import UnknownSessionError
from amplifier_modules.stores.sqlite import SqliteStore

ResultT = TypeVar("ResultT")

SESSIONS = ("origin", "child", "fork", "other", "late")
"""The sessions of the workload, an origin before what is in its file."""
ORIGINS: dict[str, str | None] = dict.fromkeys(SESSIONS) | {"child": "origin", "fork": "origin"}
"""The session in whose file each is; None for one of its own."""

Facts = dict[str, Any]
"""By session: `digests`, one of which it has, None for none; `epoch`, of its last claim; and
`may_be_taken`, whether a deletion that was cut off may have left its id in use."""


class Steps:
    """The steps that a run has made."""

    def __init__(self, first: Facts, name: str = "") -> None:
        """Begin.

        Args:
            first: What is known before the first step.
            name: That of the run, if it makes marks that `strace` sees; else only the facts after
                the first step are noted.
        """
        self.facts = [first]
        self._name = name
        self._marks = os.open(os.devnull, os.O_WRONLY) if name else None

    async def do(self, store: SqliteStore, work: Awaitable[ResultT], **epochs: int) -> ResultT:
        """Do a step, and note what is stored after it, the epochs of sessions among that."""
        number = len(self.facts)
        self._mark("begin", number)
        result = await work
        self._mark("done", number)
        if self._marks is None and len(self.facts) > 1:
            return result
        self.facts.append(
            {
                id: {
                    **known,
                    "digests": [await find_digest(store, id)],
                    "epoch": epochs.get(id, known["epoch"]),
                }
                for id, known in self.facts[-1].items()
            }
        )
        return result

    def _mark(self, what: str, number: int) -> None:
        if self._marks is not None:
            os.write(self._marks, f"{self._name} {what} {number}".encode())


def know_nothing() -> Facts:
    """Return the facts before anything is stored."""
    return {id: {"digests": [None], "epoch": 0, "may_be_taken": False} for id in SESSIONS}


async def find_digest(store: SqliteStore, id: str) -> str | None:
    """Return the digest of a session, its events and its inbox; None if it is not stored."""
    try:
        content = [await store.read(id), [[e.id, e.body] for e in await store.inbox(id)]]
    except UnknownSessionError:
        return None
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]


def choose_facts(facts: list[Facts], marks: Iterable[tuple[int, str]], time: int) -> Facts:
    """Return what must hold if the power fails at a time: a step under way is done or not."""
    done = begun = 0
    for at, mark in marks:
        if at >= time:
            break
        _, what, number = mark.split()
        if what == "done":
            done = int(number)
        else:
            begun = int(number)
    chosen: Facts = {}
    for id, known in facts[done].items():
        digests = sorted({*known["digests"], *facts[begun][id]["digests"]}, key=str)
        chosen[id] = {**known, "digests": digests}
        chosen[id]["may_be_taken"] |= known["digests"] != [None] and None in digests
    return chosen
