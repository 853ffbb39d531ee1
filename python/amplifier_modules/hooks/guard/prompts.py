"""Prompts judged by the message processor: sizes, and what looks suspicious in them."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal

from amplifier_core.models import HookResult
from amplifier_guard import Finding, Limits, MessageProcessor, MessageRejected

from .answers import ask, deny

logger = logging.getLogger(__name__)

_MOST_LOGGED = 10

FINDINGS = "guard:findings"
"""Event: suspicious patterns in a prompt, by kind and place; `action` is what is done about them."""


class Prompts:
    """Judges what users say; the text itself is never changed."""

    def __init__(
        self,
        limits: Limits,
        findings: Literal["report", "ask", "reject"],
        emit: Callable[[str, dict[str, Any]], Awaitable[Any]],
    ) -> None:
        """Judge by these limits, and tell of findings through `emit`."""
        self._processor = MessageProcessor(limits, findings=findings)
        self._action = findings
        self._emit = emit

    async def judge(self, prompt: str) -> HookResult | None:
        """Refuse a prompt, ask a person about it, or let it pass with None."""
        try:
            message = self._processor.process_user_message(prompt)
        except MessageRejected as denial:
            await self._tell(denial.findings)
            return deny(str(denial))
        await self._tell(message.findings)
        if not message.needs_approval:
            return None
        kinds = ", ".join(dict.fromkeys(finding.kind for finding in message.findings))
        return ask(f"the prompt looks suspicious ({kinds}): is it to be sent?")

    async def _tell(self, findings: Sequence[Finding]) -> None:
        if not findings:
            return
        told: list[dict[str, Any]] = [
            {"kind": each.kind, "pointer": each.pointer, "start": each.start, "end": each.end}
            for each in findings
        ]
        first = ", ".join(f"{each['kind']} at {each['start']}" for each in told[:_MOST_LOGGED])
        logger.info("suspicious in a prompt: %d findings: %s", len(told), first)
        await self._emit(FINDINGS, {"findings": told, "action": self._action})
