"""A session in the background whose process is stopped while it asks, and killed once it was answered."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "app")]

from scripted_command import command, keyed, model
from terminal import Terminal

__all__ = ["command", "keyed", "model"]

_PATIENCE = 30.0


def begin_asking(keyed: Any) -> tuple[str, int]:
    """Have a session in the background ask; return its id and its process."""
    id = keyed("--bg", "--mode", "ask", "Write a.txt").stdout.strip()
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        (info,) = json.loads(keyed("session", "list", "--json").stdout)
        if info["state"] == "asks":
            refused = keyed("--resume", id, "And?").stderr
            found = re.match(r"error: process (\d+) has `Write a\.txt` open; ", refused)
            assert found, refused
            return id, int(found[1])
    raise AssertionError("it never asked")


# Holds: command-152, command-153
def test_a_session_of_a_stopped_process_is_followed_answered_and_goes_on_when_that_is_killed(
    keyed: Any, model: Any
) -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "write_file"}
    asked = {**call, "input": {"path": "a.txt", "content": "a"}}
    model.reply(*model.said(asked, stop="tool_use"))
    model.reply(*model.said({"type": "text", "text": "All is written."}))
    id, process = begin_asking(keyed)
    os.kill(process, signal.SIGSTOP)
    stopped = (
        f"process {process} is stopped: `kill -CONT {process}` lets it go on,"
        f" `amplifier-core --resume {id[:8]} --take-over` goes on here\n"
    )
    refused = keyed("--resume", id, "And?")
    assert refused.stderr == f"error: process {process} has `Write a.txt` open; {stopped}"
    keyed.environment["TERM"] = "xterm-256color"
    terminal = Terminal(keyed, "--resume", id, columns=200)
    terminal.read_until("is stopped")
    terminal.read_until("approval needed")
    terminal.read_until("> ")
    assert stopped in terminal.screen
    terminal.type(b"yes\n")
    terminal.read_until("| allowed")
    os.kill(process, signal.SIGKILL)
    terminal.read_until("no process has it open")
    assert terminal.wait() == 0
    done = keyed("--continue")
    assert (done.stdout, done.stderr, done.returncode) == ("All is written.\n", "", 0)
    assert (keyed.folder / "a.txt").read_text() == "a"
