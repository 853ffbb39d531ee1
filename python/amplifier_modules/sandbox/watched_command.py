"""A command that ends in time, when somebody ends it, or by itself; several threads may ask."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from threading import RLock

from .command import Ending
from .command_clock import CommandClock


class WatchedCommand(ABC):
    """A command that nothing but its own process and those that it began belongs to."""

    def __init__(self, timeout: float | None) -> None:
        """Watch a command that has begun.

        Args:
            timeout: Seconds after which it is ended.
        """
        # Reentrant: a finalizer may call `kill` wherever this thread is.
        self._lock = RLock()
        self._waiting = RLock()
        self._is_over = self._is_killed = self._has_expired = False
        self._ending: Ending | None = None
        self._clock = CommandClock(timeout, self._end_in_time)

    def wait(self) -> Ending:
        """Wait until the command and all that belongs to it has ended."""
        with self._waiting:
            if self._ending is None:
                self._await_shell()
                with self._lock:
                    self._kill_all()
                    self._is_over = True
                self._clock.stop()
                self._ending = self._make_ending()
            return self._ending

    def kill(self) -> None:
        """End the command and all that belongs to it; returns at once, also where it has ended."""
        with self._lock:
            if not self._is_over:
                self._is_killed = True
                self._kill_all()

    def hold_time(self) -> AbstractContextManager[None]:
        """Let no time pass for the command in a block."""
        return self._clock.hold()

    @abstractmethod
    def list_ports(self) -> list[int]:
        """Return the ports at which it or what it began listens, as far as that is known."""

    @abstractmethod
    def _await_shell(self) -> None:
        """Wait until the shell has ended."""

    @abstractmethod
    def _kill_all(self) -> None:
        """End all that belongs to the command; nothing else has its numbers yet."""

    @abstractmethod
    def _make_ending(self) -> Ending:
        """Return how the command ended; called once, when all has ended."""

    def _end_in_time(self) -> None:
        with self._lock:
            if not self._is_over:
                self._has_expired = True
                self.kill()
