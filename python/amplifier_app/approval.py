"""Asking the user at the terminal for permission."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable
from typing import Literal

from amplifier_app.known_secrets import SECRETS
from amplifier_app.notice import notice, write_notice

_MAX_LINE_CHARS = 1000
"""A longer question is written in several lines."""


class TerminalApproval:
    """Asks on standard error and reads the answer from the terminal.

    If standard input is not a terminal, the answer is the option that denies.

    Args:
        before_asking: Called first, to end a line that is being drawn.
    """

    def __init__(self, before_asking: Callable[[], None] = lambda: None) -> None:
        self._before_asking = before_asking
        self._turn = asyncio.Lock()

    async def request_approval(
        self,
        prompt: str,
        options: list[str],
        timeout: float,  # noqa: ASYNC109 - the kernel's contract
        default: Literal["allow", "deny"],
    ) -> str:
        """Ask, and return the chosen option.

        Raises:
            ApprovalTimeoutError: No answer came within `timeout` seconds.
        """
        from amplifier_core.approval import ApprovalTimeoutError

        question = _exactly(prompt)
        async with self._turn:
            self._before_asking()
            if not _can_ask():
                write_notice(f"denied, because there is no terminal to ask in: {question}")
                return "Deny"
            _forget_typed()
            listed = ", ".join(f"{number} {name}" for number, name in enumerate(options, 1))
            for start in range(0, max(len(question), 1), _MAX_LINE_CHARS):
                piece = question[start : start + _MAX_LINE_CHARS]
                write_notice(f"{'' if start else 'approval needed: '}{piece}")
            notice(f"type a number and press Enter: {listed} ({default} after {timeout:.0f} s)")
            try:
                async with asyncio.timeout(timeout):
                    while line := await _line_from_terminal():
                        if (chosen := _choice(line, options)) is not None:
                            return chosen
                        notice(f"please type one of: {listed}")
                    return "Deny"  # Ctrl+D
            except TimeoutError:
                raise ApprovalTimeoutError(f"no answer in {timeout:.0f} s") from None


def _exactly(prompt: str) -> str:
    """What is asked, to the byte, so that users agree to what they read and nothing else.

    A backslash is doubled: what looks like an escape is one. Only known secrets are
    taken out, because anything can be made to look like one.
    """
    from amplifier_guard import TerminalText

    return TerminalText.exact(SECRETS.redactor.redact_known(prompt))


def _can_ask() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()  # pyright: ignore[reportUnnecessaryComparison]


def _forget_typed() -> None:
    """Drop what was typed before the question: it answers something else."""
    import termios

    with contextlib.suppress(termios.error, OSError):
        termios.tcflush(sys.stdin, termios.TCIFLUSH)


def _choice(line: str, options: list[str]) -> str | None:
    """The option that a line names, by its number or its text."""
    answer = line.strip().casefold()
    for number, option in enumerate(options, 1):
        if answer in (str(number), option.casefold()):
            return option
    return None


async def _line_from_terminal() -> str:
    """One line; empty if the terminal was closed.

    No thread reads it, so that a cancelled question leaves nothing behind.
    """
    loop = asyncio.get_running_loop()
    arrived: asyncio.Future[bytes] = loop.create_future()
    descriptor = sys.stdin.fileno()

    def read() -> None:
        if not arrived.done():
            arrived.set_result(os.read(descriptor, 4096))

    loop.add_reader(descriptor, read)
    try:
        return (await arrived).decode(errors="replace")
    finally:
        loop.remove_reader(descriptor)
