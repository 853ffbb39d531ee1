"""The sessions that a session and its sub-agents have started, and how many there may be."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Any

from .task import TaskLimitError


@dataclass(frozen=True)
class TaskLimits:
    """How deep sub-agents may be nested, and how many there may be."""

    depth: int = 3
    """A session that a user speaks to may start sub-agents, they may, and theirs, and no deeper."""
    count: int = 100
    """Sub-agents that work or whose result waits to be read, of all depths together."""


class Family:
    """A session that a user speaks to, and all that were started from it."""

    __slots__ = ("_count", "_lock", "coordinators", "limits")

    def __init__(self, limits: TaskLimits) -> None:
        """Begin with no sub-agents."""
        self.limits = limits
        self.coordinators: dict[str, Any] = {}
        """Those of the sub-agents that work, by the ids of their sessions."""
        self._count = 0
        self._lock = Lock()

    def enter(self, depth: int) -> None:
        """Count a sub-agent at this depth, from 1.

        Raises:
            TaskLimitError: It would be too deep, or one too many.
        """
        limits = self.limits
        if depth > limits.depth:
            raise TaskLimitError(
                f"sub-agents are nested {limits.depth} deep, the limit (`max_task_depth` of the"
                " loop); do the task here"
            )
        with self._lock:
            if self._count >= limits.count:
                raise TaskLimitError(
                    f"{limits.count} sub-agents work or wait for their results to be read, the limit"
                    " (`max_tasks` of the loop); read or cancel one first"
                )
            self._count += 1

    def leave(self) -> None:
        """Count one less."""
        with self._lock:
            self._count -= 1
