"""What was changed of a history, reported once although each later request repeats it."""

from __future__ import annotations

import logging

from amplifier_core.events import PROVIDER_TOOL_SEQUENCE_REPAIRED

from .body import WireRequest, named_kinds
from .events import Emit

logger = logging.getLogger(__name__)


_NOTHING: frozenset[tuple[str, str]] = frozenset()


class RepairReport:
    """Reports the repairs of the histories of one provider.

    Args:
        provider: The provider's name.
        emit: Emits an event.
    """

    def __init__(self, provider: str, emit: Emit) -> None:
        self._provider = provider
        self._emit = emit
        self._reported: frozenset[tuple[str, str]] = _NOTHING

    async def report(self, encoded: WireRequest) -> None:
        """Report what was changed of the history of a request, unless it was reported before."""
        repairs = encoded.history.repairs
        if not any(repairs.measure_lengths()):
            return
        if kinds := self._new_names("block", repairs.left_out):
            logger.warning(
                "content blocks left out of requests, as the API does not support them: %s",
                named_kinds(kinds),
            )
        if kinds := self._new_names("described", repairs.described):
            logger.warning(
                "content blocks became text, as `%s` does not take them: %s",
                encoded.model,
                named_kinds(kinds),
            )
        if writers := self._new_names("thinking", repairs.thinking):
            logger.warning(
                "thinking of %s left out of requests: `%s` reads only its own",
                named_kinds(writers),
                encoded.model,
            )
        if writers := self._new_names("refused", repairs.refused):
            logger.warning(
                "thinking of %s left out of requests: `%s` refused it",
                named_kinds(writers),
                self._provider,
            )
        if new := self._new_names("call", repairs.answered):
            logger.warning("%d tool calls had no result and got a synthetic one", len(new))
            await self._emit(
                PROVIDER_TOOL_SEQUENCE_REPAIRED,
                {"provider": self._provider, "repair_count": len(new), "tool_call_ids": new},
            )

    def _new_names(self, kind: str, names: list[str]) -> list[str]:
        new = [name for name in dict.fromkeys(names) if (kind, name) not in self._reported]
        if new:
            self._reported |= {(kind, name) for name in new}
        return new
