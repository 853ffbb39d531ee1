"""How far a session is asked to stop."""

from __future__ import annotations

from enum import Enum

from ._engine import RustCancellationToken as CancellationToken

__all__ = ["CancellationState", "CancellationToken"]


class CancellationState(Enum):
    """What was requested; a token's `state` is the value of one of these."""

    NONE = "none"
    GRACEFUL = "graceful"
    IMMEDIATE = "immediate"
