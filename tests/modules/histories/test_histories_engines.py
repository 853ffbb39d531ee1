"""Histories are repaired without the extension, too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PROPERTIES = [
    str(HERE / f"test_histories_{name}.py")
    for name in ("anthropic", "responses", "chat", "ollama", "growing")
]


def test_no_history_is_refused_in_plain_python() -> None:
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *PROPERTIES],
        env={**os.environ, "AMPLIFIER_ENGINE": "python", "HYPOTHESIS_PROFILE": "few"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout
    assert " passed" in run.stdout
