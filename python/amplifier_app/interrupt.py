"""Ctrl+C, and the signals that end a program."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator
from typing import NoReturn, Protocol

_STOPS = {"SIGTERM": "terminated", "SIGHUP": "the terminal was closed"}


class _Token(Protocol):
    @property
    def running_tools(self) -> set[str]: ...
    def request_graceful(self) -> bool: ...
    def request_immediate(self) -> bool: ...


class Interruption:
    """Turns signals into the cancellation of a turn.

    Ctrl+C ends the turn at once, and what the model wrote is kept; while a tool runs, the first one
    lets it finish and the second ends it at once. One more leaves without cleaning up. SIGTERM and
    SIGHUP end the turn at once.

    Args:
        token: The session's cancellation token.
        stop: Cancels the turn.
        show: Shows one line to the user.
        leave: Ends the process with an exit code.
    """

    def __init__(
        self,
        token: _Token,
        stop: Callable[[], object],
        show: Callable[[str], None],
        leave: Callable[[int], object],
    ) -> None:
        self._token = token
        self._stop = stop
        self._show = show
        self._leave = leave
        self._is_asked = False
        self._is_stopping = False
        self.exit_code = 0
        """The exit code of the command; 0 until a signal arrives."""
        self.reason = ""
        """Why the turn ends; empty until a signal arrives."""

    def press(self) -> None:
        """Ctrl+C."""
        self._note("interrupted", 128 + signal.SIGINT)
        if self._is_stopping:
            self._leave(self.exit_code)
        elif self._is_asked or not self._token.running_tools:
            self._stop_at_once("stopping now")
        else:
            self._is_asked = True
            self._token.request_graceful()
            self._show("stopping after the running tool; press Ctrl+C again to stop now")

    def end(self, name: str) -> None:
        """SIGTERM or SIGHUP."""
        self.exit_code = 0
        self._note(_STOPS[name], 128 + getattr(signal, name))
        self._stop_at_once(f"{_STOPS[name]}: stopping now")

    def _note(self, reason: str, exit_code: int) -> None:
        if not self.exit_code:
            self.reason, self.exit_code = reason, exit_code

    def _stop_at_once(self, why: str) -> None:
        self._is_stopping = True
        self._token.request_immediate()
        self._stop()
        self._show(why)

    def listen_to_signals(self) -> contextlib.AbstractContextManager[None]:
        """Listen to the signals while the running event loop is in this block."""
        return listening(self.press, self.end)


@contextlib.contextmanager
def listening(press: Callable[[], None], end: Callable[[str], None]) -> Generator[None]:
    """Listen to the signals while the running event loop is in this block.

    Args:
        press: Called for Ctrl+C.
        end: Called with the name of a signal that ends the program.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    listened: list[int] = []
    try:
        for name in ("SIGINT", *_STOPS):
            number = getattr(signal, name, None)
            # A signal that the parent ignores (nohup, a background job) stays ignored.
            if number is None or signal.getsignal(number) is signal.SIG_IGN:
                continue
            act = press if name == "SIGINT" else lambda name=name: end(name)
            with contextlib.suppress(NotImplementedError):  # Windows: KeyboardInterrupt
                loop.add_signal_handler(number, act)
                listened.append(number)
        yield
    finally:
        for number in listened:
            loop.remove_signal_handler(number)


def leave(code: int) -> NoReturn:
    """End the process at once: no clean-up, no waiting for threads."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)
