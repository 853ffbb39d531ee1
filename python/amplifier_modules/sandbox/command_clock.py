"""The time of a command, which can stand still."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Lock, Timer
from time import monotonic
from typing import Protocol


class Alarm(Protocol):
    """Calls a function after some seconds, in another thread."""

    def start(self) -> None:
        """Begin to wait."""
        ...

    def cancel(self) -> None:
        """Call nothing any more, unless it is late for that."""
        ...


def make_timer(seconds: float, function: Callable[[], object]) -> Alarm:
    """Return an alarm by a thread that no interpreter waits for."""
    timer = Timer(seconds, function)
    timer.daemon = True
    return timer


class CommandClock:
    """Counts the seconds of a command, but for those in which it is held; safe in several threads."""

    def __init__(
        self,
        seconds: float | None,
        expire: Callable[[], object],
        *,
        now: Callable[[], float] = monotonic,
        make_alarm: Callable[[float, Callable[[], object]], Alarm] = make_timer,
    ) -> None:
        """Begin to count.

        Args:
            seconds: How long the command may take; None for no limit.
            expire: Called once in a thread when that is over.
            now: Returns the seconds of a clock.
            make_alarm: Makes what wakes us.
        """
        self._left = seconds
        self._expire = expire
        self._now = now
        self._make_alarm = make_alarm
        self._lock = Lock()
        self._holds = 0
        self._is_stopped = seconds is None
        self._begun = 0.0
        self._alarm: Alarm | None = None
        with self._lock:
            self._start_counting()

    @contextmanager
    def hold(self) -> Generator[None]:
        """Let no time pass for the command in this block."""
        with self._lock:
            self._holds += 1
            self._stop_counting()
        try:
            yield
        finally:
            with self._lock:
                self._holds -= 1
                self._start_counting()

    def stop(self) -> None:
        """Count no more: the command has ended."""
        with self._lock:
            self._is_stopped = True
            self._stop_counting()

    def _start_counting(self) -> None:
        if self._is_stopped or self._holds or self._left is None:
            return
        self._begun = self._now()
        alarm = self._make_alarm(self._left, lambda: self._finish(alarm))
        self._alarm = alarm
        alarm.start()

    def _stop_counting(self) -> None:
        if self._alarm is None or self._left is None:
            return
        self._alarm.cancel()
        self._alarm = None
        self._left = max(0.0, self._left - (self._now() - self._begun))

    def _finish(self, alarm: Alarm) -> None:
        with self._lock:
            # One that was cancelled too late is not that of the time which is left now.
            if self._alarm is not alarm:
                return
            self._alarm = None
            self._is_stopped = True
        self._expire()
