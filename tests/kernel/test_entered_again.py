"""What is made at first use can be used again while it is made, and nothing waits for itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("entered_again.py")
RUST = ["make", "emit", "answered", "collected", "path", "lines"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs `fork` and alarms")
@pytest.mark.parametrize(
    ("engine", "operation"),
    [*(("rust", operation) for operation in RUST), ("python", "make"), ("python", "emit")],
)
def test_the_first_use_can_be_entered_again_at_every_point(engine: str, operation: str):
    done = subprocess.run(
        [sys.executable, SCRIPT, engine, operation], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0
