"""A thousand calls through the whole stack leave nothing; `tests/proof` makes many more."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parents[1] / "proof" / "many_calls.py"


# Holds: layer-22
def test_many_calls_through_the_whole_stack_leave_nothing() -> None:
    command = [sys.executable, str(PROGRAM), "1000"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

    grown = json.loads(done.stdout)
    del grown["bytes"]  # of so few calls it is what the allocator happens to keep
    assert grown.pop("objects") < 500
    assert grown.pop("open") <= 0
    # Connections and threads that wait for the next call: no more than there are calls at once.
    assert max(grown.pop("files"), grown.pop("threads")) <= 16
    assert grown == {"tasks": 0, "reserved": 0}
