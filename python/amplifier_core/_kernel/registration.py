"""Handlers and the handles that undo their registration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final


@dataclass(frozen=True, slots=True, eq=False)
class Registration:
    """One handler of one event."""

    serial: int
    """Unique within its registry, growing with time."""
    priority: int
    """Lower runs first."""
    name: str
    handler: Callable[[str, Any], Any]
    fail_closed: bool
    """Whether a failure denies; otherwise the handler is skipped."""
    timeout: float | None
    """Seconds that an asynchronous handler may take; over them, it has failed."""
    is_observer: bool = False
    """Whether its answers are ignored, and it sees denied events too."""


@final
class Unregister:
    """Unregisters exactly the registration that returned it; calling it again does nothing."""

    def __init__(self, registered: list[Registration], registration: Registration) -> None:
        self._registered, self._registration = registered, registration

    def __call__(self) -> None:
        """Take the registration out."""
        try:
            self._registered.remove(self._registration)
        except ValueError:  # gone already
            return

    def __repr__(self) -> str:
        """Show the name of the registration."""
        return f"<unregister '{self._registration.name}'>"
