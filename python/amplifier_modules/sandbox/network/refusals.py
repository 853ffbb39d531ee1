"""What the proxy has refused."""

from __future__ import annotations

from threading import Lock

MAX_REFUSALS = 32
"""How many different refusals are listed."""


class Refusals:
    """Refusals and their reasons, each once; safe to use from several threads."""

    def __init__(self) -> None:
        self._listed: dict[str, None] = {}
        self._unlisted = 0
        self._lock = Lock()

    def add(self, refusal: str) -> None:
        """Add one, unless it is there."""
        with self._lock:
            if refusal in self._listed:
                return
            if len(self._listed) < MAX_REFUSALS:
                self._listed[refusal] = None
            else:
                self._unlisted += 1

    def list_reasons(self) -> list[str]:
        """Return them, the first ones first."""
        with self._lock:
            listed = list(self._listed)
            return [*listed, f"… and {self._unlisted} more"] if self._unlisted else listed
