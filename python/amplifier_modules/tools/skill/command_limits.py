"""What `allowed-tools` of a command leaves of the tools in the turn that it begins."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from amplifier_core.events import PROMPT_SUBMIT
from amplifier_core.session_capabilities import COMMAND_LIMITS, SESSION_WORKING_DIR
from amplifier_modules.running.kept_state import COMMAND_LIMITS_STATE

from .limits import KeptLimits, SkillLimits

_AFTER = 1
"""Once the limits of the turn before are forgotten."""


class CommandLimits(KeptLimits):
    """Denies the calls that the command of a turn does not allow, and allows nothing besides.

    The capability `session.command_limits`; a state of the session, so that a turn that goes on in
    another process has them, too.
    """

    kind: ClassVar[str] = COMMAND_LIMITS_STATE

    def __init__(self, coordinator: Any) -> None:
        """Judge the calls of a session and its sub-agents from now on."""
        folder = Path(coordinator.get_capability(SESSION_WORKING_DIR) or Path.cwd())
        super().__init__(SkillLimits(coordinator, folder, what="command"), coordinator)
        self._next: tuple[str, tuple[str, ...]] | None = None
        self._limits.register()
        coordinator.hooks.register(PROMPT_SUBMIT, self._begin_turn, _AFTER, "command-limits")
        coordinator.register_capability(COMMAND_LIMITS, self)

    @staticmethod
    def of_session(coordinator: Any) -> CommandLimits:
        """Return those of a session; they are made if there are none."""
        found = coordinator.get_capability(COMMAND_LIMITS)
        return CommandLimits(coordinator) if found is None else found

    def limit_next_turn(self, name: str, allowed: tuple[str, ...]) -> list[str]:
        """Let only some tools be called in the next turn; return what to say about that."""
        self._next = name, allowed
        return self._limits.add_allowed(name, allowed, self._session_id)

    async def _begin_turn(self, event: str, data: dict[str, Any]) -> None:
        del event
        if self._next is not None and str(data.get("session_id")) == self._session_id:
            self._limits.add_allowed(*self._next, self._session_id)
            self._next = None
