"""Thousands of sub-agents, on each engine, and none with a tool that its parent has not."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROPERTY = Path(__file__).parents[1] / "modules" / "test_spawn_tools.py"
LEAST_CASES = 4_000


@pytest.mark.timeout(7_200)
@pytest.mark.parametrize("engine", ["rust", "python"])
def test_no_sub_agent_has_another_tool_than_its_parent(
    engine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["-q", "-p", "no:cacheprovider", "--timeout", "3600", "--hypothesis-show-statistics"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(PROPERTY)],
        env={**os.environ, "AMPLIFIER_ENGINE": engine, "HYPOTHESIS_PROFILE": "slow"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout
    count = sum(map(int, re.findall(r"(\d+) passing,", run.stdout)))
    with capsys.disabled():
        print(f"\n{count:,} sub-agents of a property on the engine in {engine}")
    assert count >= LEAST_CASES, run.stdout
