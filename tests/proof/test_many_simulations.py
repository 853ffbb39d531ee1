"""A hundred thousand random sessions on a virtual clock, each of which keeps every promise."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "simulation"))
from simulation import simulate

SESSIONS = 100_000
CHUNKS = 100


@pytest.mark.timeout(600)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_session_keeps_all_promises(chunk: int) -> None:
    for seed in range(chunk, SESSIONS, CHUNKS):
        simulate(seed)
