"""1,000 random sessions of each kind, and each history is rebuilt from the events alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).parents[1] / "modules" / "journal" / "test_rebuilding.py"
SESSIONS = "1000"


# Holds: agent-17, agent-18, agent-19
@pytest.mark.timeout(3_600)
def test_every_history_is_rebuilt_from_its_events() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--timeout", "3600", FILE],
        env={**os.environ, "RANDOM_SESSIONS": SESSIONS},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout
