"""Prompts that are queued are one turn each, whenever those end that send them and those that run them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

KILLS = 300
NEVER = (
    "lost",
    "run_twice",
    "never_sent",
    "out_of_order",
    "left",
    "turns_missing",
    "turns_without_end",
)
"""What must not be, whatever is killed."""


# Holds: store-65
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("mode", ["persist", "wal"])
def test_each_acknowledged_prompt_is_one_turn(tmp_path: Path, mode: str) -> None:
    program = Path(__file__).with_name("killed_queue.py")
    command = [sys.executable, str(program), str(tmp_path), mode, str(KILLS)]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
    )
    counts = json.loads(done.stdout)
    assert {name: counts[name] for name in NEVER} == dict.fromkeys(NEVER, 0)
    assert counts["acknowledged"] > 100, counts
    assert counts["gone_on_with"] > 3, counts
