"""Cancellation as a turn sees it."""

from __future__ import annotations

from typing import Any

import anyio

GRACE = 30.0
"""Seconds that the hooks of a cancelled turn have, all together, to take note of its end."""


class TurnCancellation:
    """The session's cancellation token, or none at all where there is no coordinator."""

    def __init__(self, coordinator: Any) -> None:
        """Take the token of the coordinator, which may be None."""
        self._token = getattr(coordinator, "cancellation", None)

    @property
    def is_cancelled(self) -> bool:
        """Whether the turn shall end, at once or after the running tools."""
        return getattr(self._token, "is_cancelled", False) is True

    @property
    def is_immediate(self) -> bool:
        """Whether the turn shall end at once."""
        return getattr(self._token, "is_immediate", False) is True

    def tool_started(self, call_id: str, name: str) -> None:
        """Show the tool as running."""
        if self._token is not None:
            self._token.register_tool_start(call_id, name)

    def tool_finished(self, call_id: str) -> None:
        """Show the tool as running no more."""
        if self._token is not None:
            self._token.register_tool_complete(call_id)

    async def run_callbacks(self) -> None:
        """Run what was registered to happen when the session is cancelled."""
        if self._token is not None:
            await self._token.trigger_callbacks()


def shielded() -> anyio.CancelScope:
    """Return a scope for what must be done even while the turn is being cancelled.

    It holds against the scopes of anyio and trio, and so against the session's own token, but not
    against `asyncio.Task.cancel`, which reaches whatever the task awaits at that moment.
    """
    return anyio.CancelScope(shield=True)


def grace() -> anyio.CancelScope:
    """Return a scope for what a cancelled turn still tells its hooks, as long as they are quick."""
    return anyio.move_on_after(GRACE, shield=True)
