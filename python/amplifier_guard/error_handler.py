"""Whether and when a failed operation is retried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from amplifier_core._engine import ErrorHandler

__all__ = ["ErrorHandler", "GiveUp", "Retry"]


@dataclass(frozen=True, slots=True)
class Retry:
    """Call again."""

    delay: float
    """Seconds to wait before."""
    attempt: int
    """Number of the retry, from 1."""


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Do not call again."""

    reason: Literal["not_retryable", "retries_exhausted", "budget_spent"]
