"""The time stamps of events."""

from __future__ import annotations

from datetime import UTC, datetime


def timestamp() -> str:
    """Return now in UTC as RFC 3339 with six fraction digits and `+00:00`: text order is time order."""
    return datetime.now(UTC).isoformat(timespec="microseconds")
