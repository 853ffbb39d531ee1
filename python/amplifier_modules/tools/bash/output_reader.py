"""Takes what a command writes to a pipe, in a thread, and ends with the command."""

from __future__ import annotations

import os
import select
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from threading import Thread

_PIECE_BYTES = 2**16
_MAX_PIECES_AFTER_END = 16
"""More is in no pipe at the end of the command; what comes later is not of it."""
_SECONDS_AFTER_END = 2.0
"""For how long what was written is read where nobody can say that this was all."""


class OutputReader(ABC):
    """Reads a pipe until its end, or until nothing is in it at the end of the command."""

    def __init__(self, take: Callable[[bytes], object]) -> None:
        """Make the pipe.

        Args:
            take: Called in a thread with each piece.
        """
        self._take = take
        self._reading, self._writing = os.pipe()
        self._thread = Thread(target=self._read, name="output", daemon=True)
        self._is_started = False

    def hand_out(self, start: Callable[[int], object]) -> None:
        """Call something with the end that is written to, which is closed here after that."""
        try:
            start(self._writing)
        finally:
            os.close(self._writing)

    def start(self) -> None:
        """Begin to read."""
        self._is_started = True
        self._thread.start()

    @abstractmethod
    def finish(self) -> None:
        """Take what is left when the command has ended, and close the pipe."""

    @abstractmethod
    def _read(self) -> None:
        """Take what comes."""


class PollingReader(OutputReader):
    """One that is told of the end of the command.

    What has left the sandbox of the command may hold its output open: it is read until here, and
    no further.
    """

    def __init__(self, take: Callable[[bytes], object]) -> None:
        """Make the pipe; `take` is called in a thread with each piece."""
        super().__init__(take)
        self._ended, self._ending_sink = os.pipe()

    def finish(self) -> None:
        """Take what is left when the command has ended, and close the pipe."""
        os.close(self._ending_sink)
        if self._is_started:
            self._thread.join()
        os.close(self._reading)
        os.close(self._ended)

    def _read(self) -> None:
        assert sys.platform != "win32"
        os.set_blocking(self._reading, False)
        poll = select.poll()
        poll.register(self._reading, select.POLLIN)
        poll.register(self._ended, select.POLLIN)
        left = _MAX_PIECES_AFTER_END
        while left:
            ready = {descriptor for descriptor, _ in poll.poll()}
            left -= self._ended in ready
            try:
                piece = os.read(self._reading, _PIECE_BYTES)
            except BlockingIOError:
                if self._ended in ready:
                    return
                continue
            if not piece:
                return
            self._take(piece)


class WaitingReader(OutputReader):
    """One for systems on which a pipe can only be waited for.

    There all that could hold the output of a command open is ended with it. If something does all
    the same, the thread and the pipe are left to it.
    """

    def finish(self) -> None:
        """Take what is left when the command has ended, and close the pipe."""
        if self._is_started:
            self._thread.join(_SECONDS_AFTER_END)
        if not self._thread.is_alive():
            os.close(self._reading)

    def _read(self) -> None:
        while piece := os.read(self._reading, _PIECE_BYTES):
            self._take(piece)


def choose_reader(platform: str) -> type[OutputReader]:
    """Return what reads outputs on a system, by its name in `sys.platform`."""
    return WaitingReader if platform == "win32" else PollingReader
