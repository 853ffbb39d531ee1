"""The points of a turn at which hooks observe, judge and inject."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import anyio

from .injection import Injection, injections_of


@dataclass(frozen=True)
class Verdict:
    """What the hooks decided about one step."""

    denied: bool
    reason: str
    data: dict[str, Any] | None
    """The payload as the hooks left it; None where no change can have been made."""


class HookPoints:
    """The hooks of one turn, with the injections that wait for the next request."""

    def __init__(self, hooks: Any, coordinator: Any) -> None:
        """Use the registry; the coordinator may be None, then nothing can be asked or stored."""
        self._hooks = hooks
        self._coordinator = coordinator
        self._approvals = anyio.Lock()
        self._waiting: list[Injection] = []

    async def emit(self, event: str, data: dict[str, Any]) -> None:
        """Tell the hooks of something that they can only observe."""
        await self._hooks.emit(event, data)

    async def judge(self, event: str, data: dict[str, Any]) -> Verdict:
        """Ask the hooks about a step, and keep what they inject for the next request.

        Raises:
            ValueError: An injection is longer than the session allows.
        """
        result = await self._hooks.emit(event, data)
        changed = result.data if getattr(result, "action", None) == "continue" else None
        if self._coordinator is not None:
            result = await self._process(result, event)
        elif getattr(result, "action", None) == "ask_user":
            return Verdict(denied=True, reason="No approval system available", data=None)
        self._waiting.extend(injections_of(result))
        return Verdict(
            denied=getattr(result, "action", None) == "deny",
            reason=getattr(result, "reason", None) or "no reason given",
            data=changed,
        )

    def take_injections(self) -> list[Injection]:
        """Return the injections that wait, each of them once."""
        waiting, self._waiting = self._waiting, []
        return waiting

    async def _process(self, result: Any, event: str) -> Any:
        if getattr(result, "action", None) != "ask_user":
            return await self._coordinator.process_hook_result(result, event)
        # One question at a time: tool calls run concurrently, and there is one user.
        async with self._approvals:
            return await self._coordinator.process_hook_result(result, event)
