"""What a long answer and a huge folder may cost in memory, whatever is in them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ANSWER = 100_000_000
MOST_FOR_AN_ANSWER = 300_000_000
MOST_FOR_A_CALL = 64_000_000


def printed(program: str, *arguments: str) -> int:
    command = [sys.executable, str(HERE / program), *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return int(run.stdout)


# Holds: sink-5
@pytest.mark.parametrize("shown", ["plain", "json", "terminal"])
def test_an_answer_of_a_hundred_megabytes_takes_less_than_three_hundred(shown, capsys):
    peak = printed("long_answer.py", shown, str(ANSWER), "10000", "latin")
    with capsys.disabled():
        print(f"\n{shown}: {peak / 1e6:.0f} MB")
    assert peak < MOST_FOR_AN_ANSWER


# Holds: sink-5
@pytest.mark.timeout(600)
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs the /proc of Linux")
@pytest.mark.parametrize(
    "kind", ["files", "endings", "directories", "deep", "line", "lines", "sparse"]
)
@pytest.mark.parametrize("tool", ["glob", "grep", "list_directory", "read_file"])
def test_a_tool_call_takes_little_memory_whatever_the_folder_holds(kind, tool, tmp_path, capsys):
    try:
        grown = printed("huge_folder.py", kind, tool, str(tmp_path))
    finally:
        # Deeper than Python 3.11 can remove, which pytest would try at the end of a later run.
        subprocess.run(["rm", "-rf", str(tmp_path)], check=True)
    with capsys.disabled():
        print(f"\n{tool} in {kind}: {grown / 1e6:.1f} MB")
    assert grown < MOST_FOR_A_CALL
