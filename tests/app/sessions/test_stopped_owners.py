"""Sessions whose process is stopped, has ended unnoticed or was killed while it asked."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import time
from pathlib import Path
from typing import Any

import pytest
from terminal import Terminal

from amplifier_agent import Agent, ScriptedProvider, tool
from amplifier_app.commands.report import Report
from amplifier_app.commands.session.answer import answer_session
from amplifier_app.commands.session.follow import follow_session
from amplifier_app.failure import Failure
from amplifier_app.sessions.process import find_process
from amplifier_modules.stores import SessionInfo

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
    keyed: Any, model: Any, say: Any
) -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "write_file"}
    asked = {**call, "input": {"path": "a.txt", "content": "a"}}
    model.reply(*model.said(asked, stop="tool_use"))
    say("All is written.")
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


# Holds: command-152
def test_who_follows_without_a_terminal_reads_how_to_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    @tool(needs_approval=True)
    def send(to: str) -> str:
        """Send the report."""
        return f"sent to {to}"

    entry = {"module": "store-sqlite", "config": {"folder": str(tmp_path)}}
    script: Any = [{"tool": "send", "arguments": {"to": "Ann"}}]
    agent = Agent(ScriptedProvider(script), tools=[send], approvals="wait", store=entry)
    asked = asyncio.run(agent.run("Send it."))
    (question,) = asked.questions
    id = asked.session_id
    assert id is not None
    follow_session(Report(), id, tmp_path, entry)
    shown = capsys.readouterr()
    asks = f"asks: {question.id[:8]}  run `send`? | `to`: `Ann`"
    assert shown.out.splitlines()[-1] == asks
    answer = f"`amplifier-core session answer {id[:8]} yes` answers it, or `no`, or words that say"
    assert shown.err == f"{answer} why not\n"
    answer_session(Report(), id, "no", None, tmp_path, entry)
    with pytest.raises(Failure) as refused:
        answer_session(Report(), id, "yes", None, tmp_path, entry)
    assert str(refused.value).endswith(
        "waits for an answer: the last one was denied by this process: run `send`?"
    )


# Holds: command-153
def test_a_process_that_has_ended_has_no_session_open_though_its_parent_takes_no_note() -> None:
    process = os.posix_spawn("/bin/true", ["true"], {})
    os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
    try:
        owner = f"{socket.gethostname()}:{process}"
        info = SessionInfo(
            id="one", parent=None, call=None, base=None, base_number=0, epoch=1, head=1,
            owner=owner, due=None, written=0.0, meta={},
        )  # fmt: skip
        assert find_process(info) is None
    finally:
        os.waitpid(process, 0)
