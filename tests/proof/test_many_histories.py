"""Over 20,000 random histories, on each engine, and no request that its provider would refuse."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HISTORIES = Path(__file__).parents[1] / "modules" / "histories"
DIALECTS = ("anthropic", "responses", "chat")
LEAST_CASES = 20_000


@pytest.mark.timeout(7_200)
@pytest.mark.parametrize("engine", ["rust", "python"])
def test_no_history_is_refused(engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(HISTORIES / f"test_histories_{name}.py") for name in DIALECTS]
    options = ["-q", "-p", "no:cacheprovider", "--timeout", "3600", "--hypothesis-show-statistics"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *files],
        env={**os.environ, "AMPLIFIER_ENGINE": engine, "HYPOTHESIS_PROFILE": "slow"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout
    found = re.findall(r"(\d+) passing,", run.stdout)
    count = sum(map(int, found))
    with capsys.disabled():
        print(f"\n{count:,} histories on the engine in {engine}")
    assert count > LEAST_CASES, run.stdout
