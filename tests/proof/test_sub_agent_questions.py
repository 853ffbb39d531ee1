"""A process that is killed while its sub-agent waits for a person: another one has the question."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("asked_sub_agent.py")
pytestmark = pytest.mark.timeout(300)


def run(folder: Path, mode: str) -> str:
    command = [sys.executable, str(PROGRAM), str(folder), mode]
    return subprocess.check_output(command, text=True, stdin=subprocess.DEVNULL)


def kill_while_it_waits(folder: Path, mode: str) -> None:
    """Have a process wait for the answer, and kill it."""
    command = [sys.executable, str(PROGRAM), str(folder), mode]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as waiting:
        assert waiting.stdout is not None
        assert waiting.stdout.readline() == b"asked\n"
        waiting.kill()
    assert waiting.returncode == -9


# Holds: approval-41
def test_a_kill_while_a_sub_agent_waits_loses_no_question_and_doubles_no_call(
    tmp_path: Path,
) -> None:
    kill_while_it_waits(tmp_path, "wait")
    assert run(tmp_path, "yes") == (
        "the sub-agent `hand on > wipe` asks:\nrun `wipe`?\n| `path`: `old`\n"
    )
    assert not (tmp_path / "wiped").exists()
    assert "old is gone" in run(tmp_path, "go on")
    assert (tmp_path / "wiped").read_text() == "old\n"
