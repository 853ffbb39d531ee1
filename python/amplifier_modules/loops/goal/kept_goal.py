"""The goal of a session, kept for another process."""

from __future__ import annotations

from typing import Any, ClassVar

from amplifier_core.session_capabilities import SESSION_LAST_GOAL

from .rules import goal_of, set_goal

GOAL = "state:goal"
"""The kind of its rows."""
ROUND = "goal:round"
"""The kind of a row with a round that was judged."""


class KeptGoal:
    """The goal of a session, and the last one if that was reached or withdrawn."""

    kind: ClassVar[str] = GOAL

    __slots__ = ("_coordinator",)

    def __init__(self, coordinator: Any) -> None:
        """Keep the goal of the session of this coordinator."""
        self._coordinator = coordinator

    def describe(self) -> dict[str, Any] | None:
        """Return it as JSON; None if there was none."""
        goal, last = goal_of(self._coordinator), self._coordinator.get_capability(SESSION_LAST_GOAL)
        if goal is not None and goal != last:
            last = goal
            self._coordinator.register_capability(SESSION_LAST_GOAL, goal)
        return None if last is None else {"goal": goal, "last": last}

    def restore(self, body: dict[str, Any]) -> None:
        """Set the goal, unless the program has set another one.

        If it has set the last one again, that stays reached or withdrawn.
        """
        given, last = goal_of(self._coordinator), body["last"]
        self._coordinator.register_capability(SESSION_LAST_GOAL, last)
        if given is None or given == last:
            set_goal(self._coordinator, body["goal"])
