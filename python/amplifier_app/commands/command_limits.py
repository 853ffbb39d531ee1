"""What `allowed-tools` of a command leaves of the tools in the turn that it begins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from amplifier_core.events import PROMPT_SUBMIT
from amplifier_modules.tools.skill.limits import SkillLimits

_AFTER = 1
"""Once the limits of the turn before are forgotten."""


class CommandLimits:
    """Denies the calls that the command of a turn does not allow, and allows nothing besides."""

    def __init__(self, coordinator: Any, folder: Path) -> None:
        """Judge the calls of a session and its sub-agents from now on.

        Args:
            coordinator: That of the session.
            folder: What paths in rules are counted from.
        """
        self._limits = SkillLimits(coordinator, folder, what="command")
        self._session_id = str(coordinator.session_id)
        self._next: tuple[str, tuple[str, ...]] | None = None
        self._limits.register()
        coordinator.hooks.register(PROMPT_SUBMIT, self._begin_turn, _AFTER, "command-limits")

    def limit_next_turn(self, name: str, allowed: tuple[str, ...]) -> list[str]:
        """Let only some tools be called in the next turn; return what to say about that."""
        self._next = name, allowed
        return self._limits.add_allowed(name, allowed, self._session_id)

    async def _begin_turn(self, event: str, data: dict[str, Any]) -> None:
        del event
        if self._next is not None and str(data.get("session_id")) == self._session_id:
            self._limits.add_allowed(*self._next, self._session_id)
            self._next = None
