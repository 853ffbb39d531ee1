"""The mode of a conversation, and its change by a key or a command."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amplifier_app.commands.chat.turns import Turns

MODES = {
    "auto": "all runs but what a tool asks about",
    "ask": "asks about all that does not only read",
    "review": "shows changes before they are made",
    "read-only": "only reads",
    "plan": "only reads until you agree to a plan",
}
"""What `/mode` may be followed by; the module that has them is imported with the first turn."""


class Modes:
    """Changes the mode of a conversation: what is chosen shows at once, and counts soon after."""

    def __init__(self, turns: Turns) -> None:
        """Begin with the mode of the order."""
        self._turns = turns
        self._change: asyncio.Task[None] | None = None
        self._is_shown = turns.order.mode is not None
        """Whether somebody chose a mode."""
        self._next: str | None = None
        """The mode that was chosen and is not yet used."""

    def choose(self, mode: str) -> None:
        """Go on in a mode from the next call on."""
        self._next, self._is_shown = mode, True
        if self._change is None or self._change.done():
            self._change = asyncio.create_task(self._use())

    def choose_next(self) -> None:
        """Choose the mode after this one; before it is known, after the widest, so that none is wider."""
        names = list(MODES)
        mode = self._next or self._turns.mode or names[0]
        self.choose(names[(names.index(mode) + 1) % len(names)])

    def find_shown(self) -> str:
        """Return the mode that the prompt shows, once somebody chose one."""
        if self._next is not None:
            return self._next
        return (self._turns.mode or "") if self._is_shown else ""

    def find_current(self) -> str:
        """Return the mode that counts from the next call on; empty while it is not known."""
        return self._next or self._turns.mode or ""

    async def _use(self) -> None:
        """Go on in the mode that was chosen last: one change after the other."""
        while (mode := self._next) is not None:
            try:
                await self._turns.use_mode(mode)
            finally:
                if self._next == mode:
                    self._next = None
