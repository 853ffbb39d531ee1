"""A call that a server needs input for is answered by another process, whatever has killed the first."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mcp")

PROGRAM = Path(__file__).with_name("killed_input.py")
KILLED = -9


# Holds: mcp-80
def test_the_state_of_a_call_goes_back_to_the_server_after_a_kill(tmp_path: Path) -> None:
    ended = [run(tmp_path, mode) for mode in ("ask", "answer")]

    assert [each.returncode for each in ended] == [KILLED, 0], ended[1].stderr
    assert json.loads(ended[1].stdout) == '{"who": {"name": "Ada"}}'
    first, again = map(json.loads, (tmp_path / "log").read_text().splitlines())
    answer = {"who": {"action": "accept", "content": {"name": "Ada"}}}
    assert (first, again) == (["greet", None, None], ["greet", answer, "the \u00fcmlaut state"])


def run(folder: Path, mode: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(PROGRAM), str(folder), mode],
        env=os.environ | {"XDG_CACHE_HOME": str(folder / "caches")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
