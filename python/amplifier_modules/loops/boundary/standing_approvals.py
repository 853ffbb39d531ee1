"""What a person has allowed beyond one call, where a module of the session keeps that."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from amplifier_core.approval import AskedCall
from amplifier_core.session_capabilities import APPROVAL_POLICY


class StandingApprovals:
    """The approvals of a session that last; none without the capability `approval.policy`."""

    def __init__(self, coordinator: Any) -> None:
        """Look them up.

        Args:
            coordinator: That of the session, or None.
        """
        find: Any = getattr(coordinator, "get_capability", None)
        self._policy: Any = find(APPROVAL_POLICY) if callable(find) else None
        self._session_id = str(getattr(coordinator, "session_id", "") or "")

    async def describe_question(self, asked: AskedCall) -> AskedCall:
        """Return a call that a person is asked about, with its effect and what may be granted."""
        if self._policy is None or not asked.call_id:
            return asked
        effect, offer = await self._policy.describe_question(asked, self._session_id)
        check = partial(self._policy.check_rule, asked=asked, session_id=self._session_id)
        return replace(asked, effect=effect, offer=offer, check_rule=check)

    async def allow_call(self, name: str, arguments: dict[str, Any]) -> bool:
        """Whether a person need not be asked about a call that its tool wants one asked about."""
        if self._policy is None:
            return False
        return await self._policy.is_allowed(name, arguments, self._session_id) is True

    async def note_grant(self, asked: AskedCall) -> None:
        """Keep what a person has granted beyond the call; what a tool asks about is its own to keep."""
        if self._policy is not None and asked.call_id and asked.reply.grant:
            await self._policy.note_grant(asked, self._session_id)
