"""Two processes that write to one file lose nothing, and damage nothing, with a SQLite that is safe for that."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BATCHES = 20_000
"""That each process writes to each of two sessions."""
SAFE = 3, 51, 3
NEWER = os.environ.get("NEWER_SQLITE", "")
"""A folder with `pysqlite3`, whose SQLite is a newer one; `make prove` installs it."""


@pytest.mark.timeout(1800)
@pytest.mark.skipif(not NEWER, reason="`NEWER_SQLITE` names no folder with `pysqlite3`")
@pytest.mark.parametrize("mode", ["persist", "wal"])
def test_two_processes_write_to_one_file(tmp_path: Path, mode: str) -> None:
    program = Path(__file__).with_name("two_writers.py")
    command = [sys.executable, str(program), str(tmp_path), mode, str(BATCHES), NEWER]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    assert tuple(map(int, counts["sqlite"].split("."))) >= SAFE
    never = ("lost", "not acknowledged", "damaged")
    assert {name: counts[name] for name in never} == dict.fromkeys(never, 0)
    assert counts["written"] > 2 * BATCHES
    assert counts["stale"] > BATCHES // 100, counts
