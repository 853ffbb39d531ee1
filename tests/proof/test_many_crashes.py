"""Thousands of crashes at any point of a stored session: it goes on as it would have without one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "simulation"))
from crashes import simulate_crashes

SESSIONS = 1_800
CHUNKS = 18


@pytest.mark.timeout(600)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_a_session_goes_on_as_without_a_crash(chunk: int) -> None:
    seeds = range(chunk, SESSIONS, CHUNKS)
    stops = sum(simulate_crashes(seed).stops for seed in seeds)
    assert stops >= len(seeds) * 10 // 9
