"""A process that is killed at any moment loses nothing that it acknowledged, and does nothing twice."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("killed_sessions.py")
KILLS = 300


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("mode", ["persist", "wal"])
def test_nothing_is_lost_and_nothing_runs_twice(tmp_path: Path, mode: str) -> None:
    command = [sys.executable, str(PROGRAM), str(tmp_path), mode, str(KILLS)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    counts = json.loads(done.stdout)
    never = ("twice", "missing", "unknown_to_the_journal", "lost_answers")
    assert {name: counts[name] for name in never} == dict.fromkeys(never, 0)
    assert counts["effects"] > 50, counts
    assert counts["unknown_outcomes"] > 0, counts
