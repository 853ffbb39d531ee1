"""How a turn ends that raises instead of returning an answer."""

from __future__ import annotations

from .result import TurnStatus

CANCELLED: tuple[TurnStatus, str] = ("cancelled", "the turn was cancelled")
"""The status and the reason of a turn that was cancelled."""


def ending_of(error: BaseException) -> tuple[TurnStatus, str]:
    """Return the status and the reason of a turn that raised this."""
    if isinstance(error, Exception):
        return "error", str(error) or type(error).__name__
    return CANCELLED
