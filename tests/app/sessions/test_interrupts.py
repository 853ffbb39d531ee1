"""Ctrl+C in each phase of a turn: what stays on the screen, in the outcome and in the history."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from terminal import CTRL_C, Terminal

GRACEFUL = "stopping after the running tool; press Ctrl+C again to stop now"
COUNTED = "40 tokens in (75% cached) · 1 out · 1 model call"
"""What the service had counted of the answer by then, which must be paid for."""
WAIT = {"type": "tool_use", "id": "t1", "name": "wait", "input": {}}
CALLED = [("user", []), ("assistant", ["t1"]), ("tool", "t1")]


def history(command: Any) -> list[tuple[str, Any]]:
    """Roles of the messages in order, with the calls they make or answer."""
    messages = json.loads(Path(command.environment["HISTORY"]).read_text())
    return [
        (
            message["role"],
            message.get("tool_call_id") or [call["id"] for call in message.get("tool_calls") or []],
        )
        for message in messages
    ]


def held(model: Any, block: dict[str, Any], pieces: int, hold: Any) -> None:
    """Let the model say so many pieces of a block, and no more until the test is over."""
    said = model.said(block)
    model.reply(*said[:pieces], hold, *said[pieces:])


def interrupted(terminal: Terminal, seen: str) -> str:
    """Press Ctrl+C once `seen` is on the screen; returns the screen at the end."""
    terminal.read_until(seen)
    terminal.type(CTRL_C)
    assert terminal.wait() == 130
    assert "Traceback" not in terminal.written
    assert "error:" not in terminal.written
    return terminal.screen.replace("^C", "")  # what the terminal itself echoes


def test_before_the_first_byte(waiting: Any, model: Any, hold: Any) -> None:
    answer = model.reply(hold)
    terminal = Terminal(waiting, "hello")
    assert answer.arrived.wait(60)
    assert interrupted(terminal, "waiting for the model") == "stopping now\n"
    assert history(waiting) == [("user", [])]


def test_while_the_model_thinks(waiting: Any, model: Any, hold: Any) -> None:
    held(model, {"type": "thinking", "thinking": "I think of it. "}, 3, hold)
    screen = interrupted(Terminal(waiting, "hello", columns=30), "think of it")
    assert screen == (
        """\
thinking
│ I think of it.
stopping now

40 tokens in (75% cached)
    1 out · 1 model call
"""
    )


def test_while_the_model_writes(waiting: Any, model: Any, hold: Any) -> None:
    held(model, {"type": "text", "text": "One moment please, "}, 3, hold)
    assert interrupted(Terminal(waiting, "hello"), "moment") == (
        f"One moment please,\nstopping now\n\n{COUNTED}\n"
    )
    assert history(waiting) == [("user", []), ("assistant", [])]


def piped(waiting: Any, seen: str, presses: int) -> tuple[int, str]:
    """Interrupt JSON lines once `seen` is among them; returns the exit code and all of them."""
    process = subprocess.Popen(
        [*waiting.line, "--json", "hello"],
        cwd=waiting.folder,
        env=waiting.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        lines = [process.stdout.readline()]
        while seen not in lines[-1]:
            lines.append(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        assert process.stderr.readline() == "stopping now\n"
        for _ in range(presses - 1):
            process.send_signal(signal.SIGINT)
        lines.extend(process.stdout)
        assert process.stderr.read() == ""
    return process.returncode, "".join(lines)


def test_while_the_model_writes_into_a_pipe(
    waiting: Any, model: Any, hold: Any, outcome_of: Any
) -> None:
    held(model, {"type": "text", "text": "One moment please, "}, 3, hold)
    code, stdout = piped(waiting, "One moment please", presses=1)
    assert code == 130
    outcome = outcome_of(stdout)
    assert (outcome["status"], outcome["reason"]) == ("cancelled", "interrupted")
    assert outcome["text"] == "One moment please, "
    assert outcome["content"] == [{"type": "text", "text": "One moment please, "}]
    assert json.loads(stdout.splitlines()[-2])["event"] == "answer"


def test_the_second_leaves_a_clean_up_that_hangs(
    waiting: Any, model: Any, hold: Any, outcome_of: Any
) -> None:
    held(model, {"type": "text", "text": "One moment please, "}, 3, hold)
    waiting.environment["STUCK"] = "1"
    code, stdout = piped(waiting, "One moment please", presses=2)
    assert code == 130
    assert outcome_of(stdout)["status"] == "cancelled"


def test_while_the_command_waits_to_retry(waiting: Any, model: Any) -> None:
    model.reply(b"{}", status=503)
    waiting.environment |= {"PROVIDER_MAX_RETRIES": "1", "PROVIDER_RETRY_DELAY": "60"}
    waiting.environment["PROVIDER_RETRY_BUDGET"] = "100000"
    screen = interrupted(Terminal(waiting, "hello"), "server error (503), retrying in ")
    assert screen.endswith("\nstopping now\n")
    assert len(model.requests) == 1
    assert history(waiting)[:1] == [("user", [])]


def test_in_a_tool_the_first_lets_it_finish(waiting: Any, model: Any) -> None:
    model.reply(*model.said(WAIT, stop="tool_use"))
    terminal = Terminal(waiting, "hello")
    terminal.read_until("running wait")
    terminal.type(CTRL_C)
    terminal.read_until(GRACEFUL)
    Path(waiting.environment["GATE"]).write_text("the tool ended by itself")

    assert terminal.wait() == 130
    assert "✓ 1 wait: the tool ended by itself" in terminal.screen
    assert "Traceback" not in terminal.written
    assert len(model.requests) == 1
    assert history(waiting)[:3] == CALLED


def test_in_a_tool_the_second_is_immediate(waiting: Any, model: Any) -> None:
    model.reply(*model.said(WAIT, stop="tool_use"))
    terminal = Terminal(waiting, "hello")
    terminal.read_until("running wait")
    terminal.type(CTRL_C)
    terminal.read_until(GRACEFUL)
    started = time.monotonic()
    terminal.type(CTRL_C)

    assert terminal.wait() == 130
    assert time.monotonic() - started < 5
    assert "stopping now" in terminal.screen
    assert "Traceback" not in terminal.written
    assert len(model.requests) == 1
    assert history(waiting)[:3] == CALLED
