"""Every split and every cut of every recorded stream, however long it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

RECORDED_TESTS = Path(__file__).parents[1] / "stream" / "recorded"


@pytest.mark.timeout(7_200)
@pytest.mark.skipif(
    not os.environ.get("RECORDED_STREAMS"),
    reason="`RECORDED_STREAMS` names no folder with recorded streams",
)
def test_every_split_and_every_cut_of_a_recorded_stream_says_what_it_should() -> None:
    command = [sys.executable, "-m", "pytest", "-q", str(RECORDED_TESTS)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
    assert " passed" in run.stdout
