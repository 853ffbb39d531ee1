"""Ten thousand sessions: what they cost while they live, and that nothing is left of them."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

import pytest

from amplifier_core import AmplifierSession

COUNT = 10_000
HELD = Path(__file__).with_name("held_session.py")
MODULES = Path(__file__).parents[2] / "benches" / "modules"
REFERENCE = os.environ.get("REFERENCE_PYTHON", "")


def bytes_per_session(python: str, state: str) -> float:
    command = [python, str(HELD), str(COUNT), state]
    held = subprocess.run(command, capture_output=True, text=True, check=False)
    assert held.returncode == 0, f"code {held.returncode}: {held.stderr}"
    return float(held.stdout)


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="needs the /proc of Linux")
@pytest.mark.skipif(not REFERENCE, reason="REFERENCE_PYTHON names the Python of the reference")
@pytest.mark.parametrize("state", ["mounted", "made"])
def test_a_living_session_takes_at_most_a_fifth_of_the_references_memory(state, capsys):
    reference, ours = (bytes_per_session(python, state) for python in (REFERENCE, sys.executable))

    with capsys.disabled():
        print(f"\n{COUNT} sessions {state}: {ours:.0f} bytes each, {reference:.0f} the reference's")
    assert ours <= reference / 5


def resident_bytes() -> int:
    """The memory of this process that is there, not swapped out or never touched."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def test_ten_thousand_sessions_that_ran_and_were_dropped_are_gone(monkeypatch):
    monkeypatch.syspath_prepend(str(MODULES.parent))
    monkeypatch.syspath_prepend(str(MODULES))
    from session import CONFIG, GivenModules

    loader = GivenModules()

    async def run(count: int) -> list[weakref.ref[Any]]:
        references = []
        for number in range(count):
            session = AmplifierSession(CONFIG)
            session.coordinator.loader = loader
            session.coordinator.hooks.register("session:start", lambda *_, own=session: None)
            await session.initialize()
            assert await session.execute("hello") == "hello"
            if number % 2:
                await session.cleanup()
            references.append(weakref.ref(session))
        return references

    await run(1_000)
    gc.collect()
    objects, size = len(gc.get_objects()), resident_bytes()

    references = await run(COUNT)
    gc.collect()

    assert sum(reference() is not None for reference in references) == 0
    del references
    assert len(gc.get_objects()) - objects < 100
    # The allocator may keep pages, but not for each session.
    assert resident_bytes() - size < 200 * COUNT
