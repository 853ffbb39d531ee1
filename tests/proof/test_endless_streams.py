"""What a stream that never ends a line may cost: twice the limit, however long it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LIMIT = 100_000_000
PROGRAM = Path(__file__).with_name("endless_stream.py")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs the /proc of Linux")
@pytest.mark.parametrize(
    ("decoder", "repeated"),
    [
        ("sse", "line"),
        ("sse", "event"),
        ("ndjson", "line"),
        ("anthropic", "event"),
        ("responses", "line"),
        ("chat", "event"),
        ("ollama", "line"),
    ],
)
def test_a_gigabyte_costs_no_more_than_twice_the_limit(decoder, repeated, capsys):
    command = [sys.executable, str(PROGRAM), decoder, repeated, str(LIMIT)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    grown = int(run.stdout)
    with capsys.disabled():
        print(f"\n{decoder}, an endless {repeated}: {grown / LIMIT:.2f} times the limit")
    assert LIMIT / 2 <= grown <= 2 * LIMIT
