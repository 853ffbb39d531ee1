"""The cancellation of a turn."""

from __future__ import annotations

from typing import Any

import anyio

GRACE_SECONDS = 30.0
"""How long the closing events of a cancelled turn may take, all together."""


class TurnCancellation:
    """The cancellation token of the session; absent without a coordinator."""

    def __init__(self, coordinator: Any) -> None:
        """Use the token of the coordinator, which may be None."""
        self._token = getattr(coordinator, "cancellation", None)

    @property
    def is_cancelled(self) -> bool:
        """Whether the turn must end, at once or after the running tools."""
        return getattr(self._token, "is_cancelled", False) is True

    @property
    def is_immediate(self) -> bool:
        """Whether the turn must end at once."""
        return getattr(self._token, "is_immediate", False) is True

    def tool_started(self, call_id: str, name: str) -> None:
        """Register the tool as running."""
        if self._token is not None:
            self._token.register_tool_start(call_id, name)

    def tool_finished(self, call_id: str) -> None:
        """Register the tool as finished."""
        if self._token is not None:
            self._token.register_tool_complete(call_id)

    async def run_callbacks(self) -> None:
        """Run the cancellation callbacks of the session."""
        if self._token is not None:
            await self._token.trigger_callbacks()


def shielded() -> anyio.CancelScope:
    """Return a scope for work that must finish during cancellation.

    It shields from the scopes of anyio and trio, and so from the session's own token, but not from
    `asyncio.Task.cancel`, which interrupts whatever the task awaits.
    """
    return anyio.CancelScope(shield=True)


def grace() -> anyio.CancelScope:
    """Return a scope for the closing events of a cancelled turn."""
    return anyio.move_on_after(GRACE_SECONDS, shield=True)
