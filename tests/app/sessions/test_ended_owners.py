"""Sessions that ask while no process has them open, and processes that have ended unnoticed."""

from __future__ import annotations

import asyncio
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from amplifier_agent import Agent, ScriptedProvider, tool
from amplifier_app.commands.report import Report
from amplifier_app.commands.session.answer import answer_session
from amplifier_app.commands.session.follow import follow_session
from amplifier_app.failure import Failure
from amplifier_app.sessions.process import find_process
from amplifier_modules.stores import SessionInfo


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
