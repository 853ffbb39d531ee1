"""Records the work of a store, lets the power fail at many moments, and looks what is left.

`states.py FOLDER MODE STATES [FAULT]` prints counts and the first problems as JSON.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import multiprocessing
import random
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from disk import Disk, write_files
from recovery import recover
from steps import SESSIONS, Facts, choose_facts
from system_calls import read_calls, record

HERE = Path(__file__).parent
PAGES = 1000, 8
"""After how many pages SQLite takes its log into the file: its default, and all the time."""
RECOVERIES = 60
"""States whose recovery is recorded, for each record of the work."""
PROCESSES = 2
MOST_TRIES = 5
"""Times that the power fails for each state that is wanted; many leave an equal one."""


class Run(NamedTuple):
    """A recorded run."""

    name: str
    disk: Disk
    facts: list[Facts]

    def fail(self, seed: str) -> tuple[dict[str, bytes | None], Facts]:
        """Let the power fail; return what is on the disk, and what must hold of it."""
        chance = random.Random(f"{self.name} {seed}")
        time = chance.randint(0, self.disk.time)
        return self.disk.fail(time, chance), choose_facts(self.facts, self.disk.marks, time)


def record_work(folder: Path, mode: str, pages: int, fault: str) -> Run:
    """Record the workload."""
    place = folder / f"work-{pages}"
    place.mkdir()
    disk = Disk(place)
    arguments = (place / "state/sessions", mode, pages, fault)
    printed = record(HERE / "workload.py", arguments, folder / "trace")
    disk.play(read_calls(folder / "trace"))
    return Run(f"work {pages}", disk, json.loads(printed))


def record_recoveries(folder: Path, mode: str, work: Run) -> Iterator[Run]:
    """Record what a store does with some of the states that the work leaves."""
    places = folder / f"recoveries of {work.name}"
    places.mkdir()
    disks: dict[str, Disk] = {}
    for number in range(RECOVERIES):
        files, facts = work.fail(f"recovery {number}")
        place = places / str(number)
        write_files(place, files)
        place.with_suffix(".json").write_text(json.dumps(facts))
        disks[place.name] = Disk(place)
    printed = record(HERE / "recovery.py", (places, mode), folder / "trace")
    calls = list(read_calls(folder / "trace"))
    for name, facts in json.loads(printed).items():
        disk = disks[name]
        disk.play(calls)
        disk.marks = [each for each in disk.marks if each[1].startswith(f"{name} ")]
        yield Run(f"{work.name} recovery {name}", disk, facts)


def compute_digest(files: dict[str, bytes | None], facts: Facts) -> bytes:
    """Return what is the same for equal states only."""
    digest = hashlib.sha256(json.dumps(facts).encode())
    for name, content in sorted(files.items()):
        digest.update(f"{name} {-1 if content is None else len(content)} ".encode())
        digest.update(content or b"")
    return digest.digest()


def look_at_states(work: tuple[Path, str, list[Run], int]) -> tuple[int, int, list[str]]:
    """Let the power fail until so many states differ, and recover from each of them.

    Returns:
        How many states there were, how often the power failed, and what was wrong.
    """
    folder, mode, runs, wanted = work
    seen: set[bytes] = set()
    problems: list[str] = []
    tries = 0

    async def look() -> None:
        nonlocal tries
        place = folder / f"state after {runs[0].name}"
        while len(seen) < wanted and tries < wanted * MOST_TRIES:
            run, number = runs[tries % len(runs)], tries // len(runs)
            files, facts = run.fail(str(number))
            tries += 1
            digest = compute_digest(files, facts)
            if digest in seen:
                continue
            seen.add(digest)
            write_files(place, files)
            try:
                await recover(place, mode, facts, [SESSIONS[number % len(SESSIONS)]])
            except Exception as error:  # noqa: BLE001 -- whatever it is, it must not be
                problems.append(f"{run.name}, state {number}: {type(error).__name__}: {error}")
            shutil.rmtree(place)

    asyncio.run(look())
    return len(seen), tries, problems


def main(folder: str, mode: str, states: str, fault: str = "none") -> None:
    place = Path(folder)
    works = [record_work(place, mode, pages, fault) for pages in PAGES]
    parts = [[work] for work in works]
    if fault == "none":
        # As many states of what recovered from the work as of the work itself.
        parts += [list(record_recoveries(place, mode, work)) for work in works]
    wanted = int(states) // len(parts)
    counts: Counter[str] = Counter()
    problems: list[str] = []
    with multiprocessing.get_context("fork").Pool(PROCESSES) as pool:
        given = [(place, mode, part, wanted) for part in parts]
        for seen, tries, found in pool.imap_unordered(look_at_states, given):
            counts += Counter(states=seen, tries=tries)
            problems += found
    print(json.dumps({**counts, "problems": len(problems), "first": problems[:5]}, indent=1))


if __name__ == "__main__":
    main(*sys.argv[1:])
