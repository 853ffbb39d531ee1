"""Stores of sessions: what one does, and what they raise."""

from .errors import (
    DamagedSessionError,
    NewerStoreError,
    SessionExistsError,
    StaleOwnerError,
    StoreError,
    UnknownSessionError,
)
from .store import (
    META,
    ORIGIN,
    Claim,
    Event,
    InboxEntry,
    NewSession,
    SessionInfo,
    Store,
    StoredEvent,
)

__all__ = [
    "META",
    "ORIGIN",
    "Claim",
    "DamagedSessionError",
    "Event",
    "InboxEntry",
    "NewSession",
    "NewerStoreError",
    "SessionExistsError",
    "SessionInfo",
    "StaleOwnerError",
    "Store",
    "StoreError",
    "StoredEvent",
    "UnknownSessionError",
]
