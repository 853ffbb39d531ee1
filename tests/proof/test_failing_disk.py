"""Whatever call of the disk fails, nothing acknowledged is lost, and no tool runs unrecorded.

`strace` makes the calls fail.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent / "failing_disk"))
from faults import Fault, Outcome, list_faults, list_files, run_with
from killed_sessions import Place, count, read
from store_work import BATCHES, ROUNDS, SESSION, make_batch

from amplifier_modules.stores import StoredEvent, UnknownSessionError
from amplifier_modules.stores.sqlite import SqliteStore

FAULTS = [
    ("pwrite64", "EIO", False),
    ("pwrite64", "EIO", True),
    ("pwrite64", "ENOSPC", False),
    ("fdatasync", "EIO", False),
    ("fdatasync", "EIO", True),
    ("fsync", "EIO", False),
    ("pread64", "EIO", False),
    ("pread64", "EIO", True),
    ("ftruncate", "EIO", False),
]
"""Calls by which SQLite and the store use a disk, how they fail, and whether for good."""
LIMIT = 40
"""Calls of an agent that fail, of each kind; the store has each of its calls fail."""
NEVER = ("twice", "missing", "unknown_to_the_journal", "lost_answers")
"""What no agent may do, however its disk fails."""

pytestmark = pytest.mark.skipif(
    shutil.which("strace") is None, reason="`strace` is not installed (`apt-get install strace`)"
)


@pytest.fixture
def places() -> Iterator[Iterator[Path]]:
    """Folders in memory, where there is one."""
    memory = "/dev/shm"
    with tempfile.TemporaryDirectory(dir=memory if Path(memory).is_dir() else None) as folder:
        yield (Path(tempfile.mkdtemp(dir=folder)) for _ in iter(int, 1))


def list_refusals(outcome: Outcome, folder: Path, fault: Fault) -> list[str]:
    """Return what was refused; each has one line that names the session or the folder."""
    assert (outcome.exit_code, "Traceback" in outcome.logged) == (0, False), (fault, outcome)
    refusals = [line for line in outcome.printed if not line.startswith("stored ")]
    for line in refusals:
        assert line.startswith("refused "), (fault, outcome)
        assert f"`{SESSION}`" in line or f"`{folder}`" in line, (fault, line)
    return refusals


def list_stored(outcome: Outcome) -> list[int]:
    """Return the numbers of the batches that were acknowledged."""
    return [int(line.split()[1]) for line in outcome.printed if line.startswith("stored ")]


def split_batches(events: list[StoredEvent]) -> list[int]:
    """Return the numbers of the batches, each of which is there as a whole."""
    numbers = [each.body for each in events if each.kind == "end"]
    expected = [event for number in numbers for event in make_batch(number)]
    assert [(each.kind, each.body) for each in events[1:]] == expected
    return numbers


async def check_store(folder: Path, mode: str, stored: list[int]) -> None:
    """Read and go on, without faults."""
    store = SqliteStore(folder=str(folder), journal_mode=mode)
    try:
        numbers = split_batches(await store.read(SESSION))
    except UnknownSessionError:
        assert stored == []
    else:
        assert numbers == sorted(set(numbers))
        assert {*stored} <= {*numbers}
        assert await store.verify(SESSION) == []
        assert [info.id for info in await store.sessions()] == [SESSION]
        owned = await store.claim(SESSION, "other")
        await store.append(owned, make_batch(100))
        assert split_batches(await store.read(SESSION)) == [*numbers, 100]
    await store.close()


# Holds: store-41
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("call", "error", "lasts"), FAULTS)
@pytest.mark.parametrize("mode", ["persist", "wal"])
async def test_a_store_loses_nothing_of_what_it_acknowledged(
    places: Iterator[Path], mode: str, call: str, error: str, lasts: bool
) -> None:
    faults = refused = 0
    for fault in list_faults(call, error, lasts=lasts):
        folder = next(places) / "sessions"
        # The linker reads files, too, before there is a program.
        files = list_files(folder, SESSION) if call == "pread64" else []
        outcome = run_with(fault, "store_work.py", folder, mode, *files)
        if not outcome.has_failed:
            break
        stored = list_stored(outcome)
        refusals = list_refusals(outcome, folder, fault)
        await check_store(folder, mode, stored)
        if not refusals:
            assert stored == list(range(ROUNDS * BATCHES)), fault
        elif not lasts:
            # The same process goes on once the disk is well.
            assert len(refusals) == 1, (fault, outcome)
        faults, refused = faults + 1, refused + bool(refusals)
    assert refused > 0 or call == "ftruncate", faults
    print(f"store, {mode}, {call}, {error}: {faults} faults, {refused} refused")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("mode", ["persist", "wal"])
async def test_a_store_that_takes_failures_for_successes_is_found(
    places: Iterator[Path], mode: str
) -> None:
    found = 0
    for fault in islice(list_faults("fdatasync", "EIO", lasts=True), 5):
        folder = next(places) / "sessions"
        outcome = run_with(fault, "careless_work.py", folder, mode)
        try:
            await check_store(folder, mode, list_stored(outcome))
        except AssertionError:
            found += 1
    assert found > 0


# Holds: store-41
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("call", "error", "lasts"), FAULTS)
@pytest.mark.parametrize("mode", ["persist", "wal"])
async def test_no_tool_runs_whose_start_is_not_stored(
    places: Iterator[Path], mode: str, call: str, error: str, lasts: bool
) -> None:
    faults = refused = 0
    for fault in list_faults(call, error, lasts=lasts):
        place = Place(next(places), mode)
        files = list_files(place.folder, SESSION)
        outcome = run_with(fault, "agent_work.py", place.folder.parent, mode, *files)
        if not outcome.has_failed or fault.number > LIMIT:
            break
        refusals = list_refusals(outcome, place.folder, fault)
        faults, refused = faults + 1, refused + bool(refusals)
        counts = count(place, *await read(place))
        assert {name: counts[name] for name in NEVER} == dict.fromkeys(NEVER, 0), (fault, counts)
    assert refused > 0 or call in ("fsync", "ftruncate"), faults
    print(f"agent, {mode}, {call}, {error}: {faults} faults, {refused} refused")
