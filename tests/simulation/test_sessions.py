"""Hundreds of random sessions, each of which keeps every promise at every step; `tests/proof` runs many more."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from simulation import SimulationError, simulate

SESSIONS = 500
CHUNKS = 8
REPEAT = Path(__file__).with_name("repeat.py")


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_session_keeps_all_promises(chunk: int) -> None:
    for seed in range(chunk, SESSIONS, CHUNKS):
        simulate(seed)


# Holds: world-4
def test_the_same_seed_has_the_same_trace_and_another_one_another() -> None:
    digests = [simulate(seed).digest for seed in range(12)]

    assert [simulate(seed).digest for seed in range(12)] == digests
    assert len(set(digests)) == 12


# Holds: world-4
@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_a_seed_has_the_same_trace_in_every_process(hash_seed: str) -> None:
    ran = subprocess.run(
        [sys.executable, str(REPEAT), "30"],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert simulate(30).digest in ran.stdout


def test_a_failure_says_how_to_repeat_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from planted_faults import a_result_is_added_twice

    a_result_is_added_twice(monkeypatch)

    with pytest.raises(SimulationError, match=r"repeat it with: .*repeat\.py 7$") as caught:
        simulate(7)
    assert "seed 7: BrokenPromiseError" in str(caught.value)
