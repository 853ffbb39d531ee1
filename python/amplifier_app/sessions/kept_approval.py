"""Asking where nobody is: what is stored waits for another process, anything else is denied."""

from __future__ import annotations

from typing import Any, Literal

from amplifier_core.approval import ASKED_CALL


class KeptApproval:
    """Hands the questions on that are stored; nobody could answer any other.

    Args:
        kept: Waits for the answers of other processes.
        here: Asks in the terminal, and so denies where there is none.
    """

    def __init__(self, kept: Any, here: Any) -> None:
        self._kept = kept
        self._here = here

    async def request_approval(
        self,
        prompt: str,
        options: list[str],
        timeout: float,  # noqa: ASYNC109 - the kernel's contract
        default: Literal["allow", "deny"],
    ) -> str:
        """Ask, and return the chosen option."""
        call = ASKED_CALL.get()
        asked = self._here if call is None or call.keeper is None else self._kept
        return await asked.request_approval(prompt, options, timeout, default)
