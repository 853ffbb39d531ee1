"""The sub-agents that a turn waited for when its process ended, on their way back."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any


class KeptTasks:
    """The tasks of the open calls of a session, in the order in which their calls began them."""

    def __init__(self, rows: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
        """Begin with what is stored.

        Args:
            rows: The rows of the tasks by the ids of their calls, and of their sessions.
        """
        self._rows = {call: deque(tasks.values()) for call, tasks in rows.items()}

    def is_empty(self) -> bool:
        """Whether no call waited for a sub-agent."""
        return not self._rows

    def has_call(self, call_id: str) -> bool:
        """Whether a call had a sub-agent do something."""
        return call_id in self._rows

    def take(self, call_id: str) -> Mapping[str, Any] | None:
        """Return the next task of a call that goes on; None if it begins another one."""
        left = self._rows.get(call_id)
        return left.popleft() if left else None

    def forget(self, call_id: str) -> None:
        """Forget the tasks of a call that has ended."""
        self._rows.pop(call_id, None)

    def clear(self) -> None:
        """Forget all: the turn is over that waited for them."""
        self._rows.clear()
