"""Checks of prompts: their size, and suspicious patterns."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, TypeAlias

from amplifier_core.models import HookResult
from amplifier_guard import Finding, Limits, MessageProcessor, MessageRejected

from .answers import ask, deny

logger = logging.getLogger(__name__)

_MAX_LOGGED = 10

Emit: TypeAlias = Callable[[str, dict[str, Any]], Awaitable[Any]]

FINDINGS = "guard:findings"
"""Event: suspicious patterns in a prompt, by kind and place, and the `action` taken."""


class Prompts:
    """Checks prompts; the text itself is never changed."""

    def __init__(self, limits: Limits, findings: Literal["report", "ask", "reject"]) -> None:
        """Use these limits, and report or refuse findings."""
        self._processor = MessageProcessor(limits, findings=findings)
        self._action = findings

    async def judge(self, prompt: str, emit: Emit) -> HookResult | None:
        """Deny a prompt, ask a person about it, or return None to let it pass.

        Args:
            prompt: The prompt.
            emit: Takes the event about what is found.
        """
        try:
            message = self._processor.process_user_message(prompt)
        except MessageRejected as denial:
            await self._report(denial.findings, emit)
            return deny(str(denial))
        await self._report(message.findings, emit)
        if not message.needs_approval:
            return None
        kinds = ", ".join(dict.fromkeys(finding.kind for finding in message.findings))
        return ask(f"the prompt looks suspicious ({kinds}): send it?")

    async def _report(self, findings: Sequence[Finding], emit: Emit) -> None:
        if not findings:
            return
        listed: list[dict[str, Any]] = [
            {"kind": each.kind, "pointer": each.pointer, "start": each.start, "end": each.end}
            for each in findings
        ]
        first = ", ".join(f"{each['kind']} at {each['start']}" for each in listed[:_MAX_LOGGED])
        logger.info("suspicious patterns in a prompt (%d): %s", len(listed), first)
        await emit(FINDINGS, {"findings": listed, "action": self._action})
