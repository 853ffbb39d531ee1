"""A hundred thousand calls through the whole stack, after which nothing is left."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

COUNT = 100_000
PROGRAM = Path(__file__).with_name("many_calls.py")


@pytest.mark.timeout(1_800)
# Holds: layer-22
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs the /proc of Linux")
def test_a_hundred_thousand_calls_leave_nothing(capsys):
    command = [sys.executable, str(PROGRAM), str(COUNT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

    grown = json.loads(done.stdout)
    with capsys.disabled():
        print(f"\n{COUNT} calls: {grown}")
    # The allocator may keep pages, but not for each call.
    assert grown.pop("bytes") < 50 * COUNT
    assert grown.pop("objects") < 500
    assert grown.pop("open") <= 0
    # Connections and threads that wait for the next call: no more than there are calls at once.
    assert max(grown.pop("files"), grown.pop("threads")) <= 16
    assert grown == {"tasks": 0, "reserved": 0}
