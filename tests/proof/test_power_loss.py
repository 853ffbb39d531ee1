"""Whatever a loss of power leaves of the writes that were not synced, nothing acknowledged is lost.

`strace` records what the store asks the kernel for.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

STATES = 50_000
"""Different ones, in each mode."""

pytestmark = pytest.mark.skipif(
    shutil.which("strace") is None, reason="`strace` is not installed (`apt-get install strace`)"
)


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder in memory, where there is one: what is synced there is not at stake."""
    memory = "/dev/shm"
    with tempfile.TemporaryDirectory(dir=memory if Path(memory).is_dir() else None) as folder:
        yield Path(folder)


def fail_at_many_moments(place: Path, *arguments: object) -> dict[str, Any]:
    program = Path(__file__).with_name("power_loss") / "states.py"
    command = [sys.executable, str(program), str(place), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# Holds: store-31
@pytest.mark.timeout(5400)
@pytest.mark.parametrize("mode", ["persist", "wal"])
def test_nothing_acknowledged_is_lost_with_the_power(place: Path, mode: str) -> None:
    found = fail_at_many_moments(place, mode, STATES)
    assert (found["problems"], found["first"]) == (0, [])
    assert found["states"] == STATES


@pytest.mark.timeout(600)
@pytest.mark.parametrize("mode", ["persist", "wal"])
@pytest.mark.parametrize(
    "fault", ["writes are not synced", "folders are not synced", "a new file is not synced"]
)
def test_a_store_that_does_not_sync_is_found(place: Path, mode: str, fault: str) -> None:
    found = fail_at_many_moments(place, mode, 300, fault)
    assert found["problems"] > 30, found
