"""The seconds of a turn, which stand still while a person is asked."""

from __future__ import annotations

from collections.abc import Callable


class Stopwatch:
    """Measures seconds; it can be paused, several times at once."""

    def __init__(self, clock: Callable[[], float], *, is_paused: bool = False) -> None:
        """Begin at 0, perhaps with a pause."""
        self._clock = clock
        self._began = clock()
        self._pauses = int(is_paused)
        self._paused_at = self._began
        self.listeners: list[Callable[[], None]] = []
        """Called when it is paused and when it goes on, perhaps in another thread."""

    @property
    def is_paused(self) -> bool:
        """Whether it stands still."""
        return self._pauses > 0

    @property
    def seconds(self) -> float:
        """The seconds since it began, without those of the pauses."""
        return (self._paused_at if self._pauses else self._clock()) - self._began

    def add(self, seconds: float) -> None:
        """Count further seconds."""
        self._began -= seconds

    def pause(self) -> None:
        """Stand still until `resume` is called as often as this."""
        if not self._pauses:
            self._paused_at = self._clock()
        self._pauses += 1
        self._notify()

    def resume(self) -> None:
        """Take back one `pause`."""
        if self._pauses == 1:
            self._began += self._clock() - self._paused_at
        self._pauses -= 1
        self._notify()

    def _notify(self) -> None:
        for listener in tuple(self.listeners):
            listener()
