"""Ctrl+C in two stages, and the signals that end a program."""

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
    def request_graceful(self) -> bool: ...
    def request_immediate(self) -> bool: ...


class Interruption:
    """Turns signals into the cancellation of a turn.

    The first Ctrl+C asks the loop to stop after the running tool, the second cancels the turn at
    once, a third leaves without cleaning up. SIGTERM and SIGHUP act like the second.

    Args:
        token: The session's cancellation token.
        stop: Cancels the turn.
        show: Shows one line to the user.
    """

    def __init__(
        self, token: _Token, stop: Callable[[], object], show: Callable[[str], None]
    ) -> None:
        self._token = token
        self._stop = stop
        self._show = show
        self._presses = 0
        self.exit_code = 0
        """The exit code of the command; 0 until a signal arrives."""

    def press(self) -> None:
        """Ctrl+C."""
        self._presses += 1
        self.exit_code = self.exit_code or 128 + signal.SIGINT
        if self._presses == 1:
            self._token.request_graceful()
            self._show("stopping after the running tool; press Ctrl+C again to stop now")
        elif self._presses == 2:
            self._stop_at_once("stopping now")
        else:
            leave(self.exit_code)

    def end(self, name: str) -> None:
        """SIGTERM or SIGHUP."""
        self._presses = max(self._presses, 2)
        self.exit_code = 128 + getattr(signal, name)
        self._stop_at_once(f"{_STOPS[name]}: stopping now")

    def _stop_at_once(self, why: str) -> None:
        self._token.request_immediate()
        self._stop()
        self._show(why)

    @contextlib.contextmanager
    def installed(self) -> Generator[None]:
        """Listen to the signals while the running event loop is in this block."""
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
                act = self.press if name == "SIGINT" else lambda name=name: self.end(name)
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
