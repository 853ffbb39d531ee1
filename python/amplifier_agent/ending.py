"""How a turn ends that raises instead of returning an answer."""

from __future__ import annotations

import anyio

from amplifier_core._kernel.interruption import asyncio_task
from amplifier_core.llm_errors import AbortError

from .result import TurnStatus

CANCELLED: tuple[TurnStatus, str] = ("cancelled", "the turn was cancelled")
"""The status and the reason of a turn that was cancelled."""


def ending_of(error: BaseException) -> tuple[TurnStatus, str]:
    """Return the status and the reason of a turn that raised this."""
    if isinstance(error, Exception):
        return "error", str(error) or type(error).__name__
    return CANCELLED


def is_of_token(error: BaseException) -> bool:
    """Whether a loop that is not ours let its cancellation through, and nobody else cancelled."""
    task = asyncio_task()
    if task is None or isinstance(error, AbortError):
        return isinstance(error, AbortError)
    return isinstance(error, anyio.get_cancelled_exc_class()) and not task.cancelling()
