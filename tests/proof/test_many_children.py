"""A thousand sub-agents at once: what they take, and that nothing is left of them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_modules.spawn.tasks import KEPT_TASKS

COUNT = 1_000
PROGRAM = Path(__file__).with_name("many_children.py")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs the /proc of Linux")
@pytest.mark.parametrize("way", ["foreground", "background"])
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_thousand_sub_agents_at_once_are_bounded_and_freed(
    way: str, backend: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [sys.executable, "-W", "error", str(PROGRAM), str(COUNT), way, backend]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    figures: dict[str, Any] = json.loads(ran.stdout)

    with capsys.disabled():
        print(f"\n{COUNT} sub-agents, {way}, {backend}: {figures}")
    assert (figures["answers"], figures["made"]) == (COUNT, COUNT)
    assert (figures["alive"], figures["tasks"]) == (0, KEPT_TASKS)
    assert (
        figures["new_objects"] < 15_000
    )  # modules that were imported meanwhile, and the tasks kept
    assert figures["bytes_each"] < 300_000
    assert figures["cpu_seconds"] < 60
