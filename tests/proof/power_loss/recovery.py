"""A store after a loss of power: is all there that must be, and can it be used?

`recovery.py FOLDER MODE` does so for each state in the folder, and prints as JSON what holds after
each step, by state. Each has its facts in a file beside it.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from steps import ORIGINS, SESSIONS, Facts, Steps

from amplifier_modules.stores import NewSession, SessionExistsError
from amplifier_modules.stores.sqlite import SqliteStore

STORE = "state/sessions"
"""The folder of the store, in the one that was recorded; it is made with the first session."""


async def recover(
    place: Path,
    mode: str,
    facts: Facts,
    used: Sequence[str] = SESSIONS,
    name: str = "",
) -> Steps:
    """Open the store, read all of it, and go on with some of its sessions.

    Args:
        place: The folder that was recorded, as it is after the failure.
        mode: How SQLite keeps its journal.
        facts: What must be there.
        used: The sessions to go on with, or to begin where they are not stored.
        name: That of the state, if the steps are to be marked.

    Raises:
        AssertionError: Something is not as it must be.
        StoreError: Something cannot be read or used.
    """
    steps = Steps(facts, name)
    store = SqliteStore(folder=str(place / STORE), journal_mode=mode)
    listed = {info.id for info in await steps.do(store, store.sessions())}
    found = {id: each["digests"][0] for id, each in steps.facts[-1].items()}
    for id in SESSIONS:
        allowed = facts[id]["digests"]
        assert found[id] in allowed, f"`{id}` is {found[id]} (must be one of {allowed})"
    present = {id for id in SESSIONS if found[id]}
    assert listed == present, f"listed are {listed} (must be {present})"
    for id in used:
        epoch = facts[id]["epoch"] if id in present else 0
        if id in present:
            claiming = store.claim(id, "next")
        elif ORIGINS[id] is None:
            claiming = store.claim(id, "next", new=NewSession())
        elif "origin" not in present:
            continue
        elif id == "fork":
            await steps.do(store, store.fork("origin", "fork"), fork=0)
            claiming = store.claim(id, "next")
        else:
            claiming = store.claim(id, "next", new=NewSession(parent="origin"))
        try:
            claim = await steps.do(store, claiming, **{id: epoch + 1})
        except SessionExistsError:
            # Of a session that is being deleted, or has a fork, the id is not free.
            assert id not in present
            assert facts[id]["may_be_taken"] or (id == "origin" and "fork" in present), id
            continue
        assert claim.epoch > epoch, f"`{id}` is claimed as {claim.epoch} (must be over {epoch})"
        before = await store.read(id)
        assert [each.number for each in before] == list(range(1, claim.head + 1))
        claim = await steps.do(store, store.append(claim, [("recovered", id)]))
        after = await store.read(id)
        assert after[:-1] == before, f"`{id}` has changed what was before"
        assert tuple(after[-1]) == (len(after), claim.epoch, "recovered", id)
        problems = await store.verify(id)
        assert not problems, problems
    await store.close()
    return steps


def main(folder: str, mode: str) -> None:
    places = sorted(each for each in Path(folder).iterdir() if each.is_dir())
    facts = {each.name: json.loads(each.with_suffix(".json").read_text()) for each in places}

    async def run() -> dict[str, list[Facts]]:
        return {
            each.name: (await recover(each, mode, facts[each.name], name=each.name)).facts
            for each in places
        }

    print(json.dumps(asyncio.run(run())))


if __name__ == "__main__":
    main(*sys.argv[1:])
