"""A line that is half typed when a question comes is there again once that is answered.

Holds: approval-48, command-150
"""

from __future__ import annotations

import asyncio
import os
import pty
import re
import sys
import termios
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pyte
import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input.vt100 import Vt100Input

from amplifier_app import approval
from amplifier_app.approval import TerminalApproval
from amplifier_app.known_secrets import Secrets
from amplifier_app.line_input.candidate import Candidate
from amplifier_app.line_input.completion import LineCompleter
from amplifier_app.line_input.line_editor import LineEditor
from amplifier_app.line_input.lines import Typing
from amplifier_app.line_input.plain_lines import PlainLines
from amplifier_app.sessions.given_answer import GivenAnswer
from amplifier_core.approval import ASKED_CALL, AskedCall


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def complete_nothing(line: str) -> AsyncIterator[Candidate]:
    for each in ():
        yield each


class Screen:
    """A terminal of 40 columns, and somebody who waits for what is on it."""

    def __init__(self, keyboard: int) -> None:
        self._keyboard = keyboard
        self._screen = pyte.Screen(40, 24)
        self._stream = pyte.ByteStream(self._screen)
        self.written = b""
        self._came = asyncio.Event()
        asyncio.get_running_loop().add_reader(keyboard, self._read)

    def _read(self) -> None:
        piece = os.read(self._keyboard, 65536)
        self.written += piece
        self._stream.feed(piece)
        self._came.set()

    async def see(self, *patterns: str) -> None:
        """Wait until the last rows that are not empty are these."""
        while True:
            rows = [row.rstrip() for row in self._screen.display if row.strip()]
            last = rows[-len(patterns) :]
            if len(last) == len(patterns) and all(map(re.fullmatch, patterns, last)):
                return
            self._came.clear()
            await self._came.wait()

    @property
    def text(self) -> str:
        """All rows."""
        return "\n".join(row.rstrip() for row in self._screen.display)

    def type(self, text: str) -> None:
        os.write(self._keyboard, text.encode())


@pytest.mark.parametrize("kind", ["editor", "plain"])
async def test_a_half_typed_line_is_set_aside_and_answers_nothing(
    kind: str, monkeypatch: Any, tmp_path: Path
) -> None:
    keyboard, terminal = pty.openpty()
    termios.tcsetwinsize(keyboard, (24, 40))
    monkeypatch.setattr(approval, "SECRETS", Secrets({}))
    taken: asyncio.Queue[str] = asyncio.Queue()
    with os.fdopen(terminal) as stdin, os.fdopen(os.dup(terminal), "w") as stdout:
        monkeypatch.setattr(sys, "stdin", stdin)
        screen = Screen(keyboard)
        with create_app_session(input=Vt100Input(stdin)):
            lines: Any = PlainLines(stdin, stdout, stdout)
            if kind == "editor":
                completer = LineCompleter(complete_nothing, tmp_path)
                lines = LineEditor(stdout, InMemoryHistory(), completer)
            running = asyncio.create_task(lines.run(Typing(take=taken.put_nowait)))
            await screen.see(">")
            screen.type("yes, half a")
            await screen.see("> yes, half a")
            asks = TerminalApproval(asking=lines.suspend)
            asking = asyncio.create_task(
                asks.request_approval("go on?", ["Allow", "Deny"], 60, "deny")
            )
            await screen.see("[a-z]{4}>")
            assert (taken.empty(), asking.done()) == (True, False)
            screen.type("allow\n")
            assert await asking == "Allow"
            await screen.see("[a-z]{4}\\| allowed", "(> )?yes, half a")
            screen.type(" line\r" if kind == "editor" else " line\n")
            assert await taken.get() == "yes, half a line"
            lines.end()
            await running
        asyncio.get_running_loop().remove_reader(keyboard)
    os.close(keyboard)
    assert taken.empty()


# Holds: typing-10
async def test_what_is_typed_before_the_prompt_is_a_line_with_its_enter(tmp_path: Path) -> None:
    keyboard, terminal = pty.openpty()
    termios.tcsetwinsize(keyboard, (24, 40))
    taken: asyncio.Queue[str] = asyncio.Queue()
    with os.fdopen(terminal) as stdin, os.fdopen(os.dup(terminal), "w") as stdout:
        screen = Screen(keyboard)
        with create_app_session(input=Vt100Input(stdin)):
            screen.type("first\rsec")
            await screen.see("first", "sec")  # as the terminal itself shows it
            completer = LineCompleter(complete_nothing, tmp_path)
            lines = LineEditor(stdout, InMemoryHistory(), completer)
            running = asyncio.create_task(lines.run(Typing(take=taken.put_nowait)))
            assert await taken.get() == "first"
            await screen.see("(sec)?> sec")
            screen.type("ond\r")
            assert await taken.get() == "second"
            lines.end()
            await running
        asyncio.get_running_loop().remove_reader(keyboard)
    os.close(keyboard)
    assert taken.empty()


@pytest.mark.parametrize("kind", ["editor", "plain"])
async def test_a_question_goes_with_the_answer_of_another_process_and_what_is_typed_stays(
    kind: str, monkeypatch: Any, tmp_path: Path
) -> None:
    keyboard, terminal = pty.openpty()
    termios.tcsetwinsize(keyboard, (24, 40))
    monkeypatch.setattr(approval, "SECRETS", Secrets({}))
    monkeypatch.setenv("TERM", "dumb" if kind == "plain" else "xterm")
    answers: list[GivenAnswer] = []

    async def find_answer(_: AskedCall) -> GivenAnswer | None:
        return answers[0] if answers else None

    with os.fdopen(terminal) as stdin, os.fdopen(os.dup(terminal), "w") as stdout:
        monkeypatch.setattr(sys, "stdin", stdin)
        screen = Screen(keyboard)
        with create_app_session(input=Vt100Input(stdin)):
            lines: Any = PlainLines(stdin, stdout, stdout)
            if kind == "editor":
                completer = LineCompleter(complete_nothing, tmp_path)
                lines = LineEditor(stdout, InMemoryHistory(), completer)
            taken: asyncio.Queue[str] = asyncio.Queue()
            running = asyncio.create_task(lines.run(Typing(take=taken.put_nowait)))
            await screen.see(">")
            screen.type("half a line")
            await screen.see("> half a line")
            token = ASKED_CALL.set(AskedCall("id", "bash", {}))
            asks = TerminalApproval(asking=lines.suspend, elsewhere=find_answer)
            asking = asyncio.create_task(
                asks.request_approval("go on?", ["Allow", "Deny"], 60, "deny")
            )
            ASKED_CALL.reset(token)
            await screen.see("[a-z]{4}>")
            screen.type("rather")
            await screen.see("[a-z]{4}> rather")
            answers.append(GivenAnswer(False, "by process 1", "not \x1b[2J now"))
            assert await asking == "Deny"
            if kind == "editor":
                await screen.see("> half a line", " *rather")
                assert "approval" not in screen.text
            else:
                await screen.see("half a line", "rather")
                assert "approval needed" in screen.text
                assert b"\x1b" not in screen.written
            screen.type(" so\r" if kind == "editor" else " so\n")
            assert await taken.get() == "half a line\nrather so"
            lines.end()
            await running
        asyncio.get_running_loop().remove_reader(keyboard)
    os.close(keyboard)
    assert "denied by process 1" in screen.text
