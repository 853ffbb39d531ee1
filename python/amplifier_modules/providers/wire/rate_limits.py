"""What a service says about its rate limits in the headers of its answers."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

_HEADER = re.compile(
    r"(?:anthropic-ratelimit-(?P<kind>[a-z-]+)-(?P<what>limit|remaining|reset)"
    r"|x-ratelimit-(?P<late_what>limit|remaining|reset)-(?P<late_kind>[a-z-]+))"
)
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")


@dataclass(frozen=True)
class RateLimit:
    """How much of one limit is left."""

    kind: str
    """What is limited: `requests`, `tokens`, `input-tokens`."""
    limit: float
    remaining: float
    reset: float | None
    """When it is whole again, in seconds since the epoch; None if unknown."""

    @property
    def share(self) -> float:
        """The part that is left, from 0 to 1."""
        return self.remaining / self.limit if self.limit > 0 else 1.0


def rate_limits(
    headers: Mapping[str, str], now: Callable[[], float] = time.time
) -> list[RateLimit]:
    """Return the limits that the headers of an answer name in full; others are ignored.

    Args:
        headers: The headers of Anthropic or OpenAI, and of the many that write theirs the same way.
        now: Returns the current time, in seconds since the epoch.
    """
    found: dict[str, dict[str, str]] = {}
    for name, value in headers.items():
        if match := _HEADER.fullmatch(name.lower()):
            kind = match["kind"] or match["late_kind"]
            found.setdefault(kind, {})[match["what"] or match["late_what"]] = value
    limits: list[RateLimit] = []
    for kind, values in found.items():
        limit, remaining = _number(values.get("limit")), _number(values.get("remaining"))
        if limit is not None and remaining is not None:
            reset = _reset(values.get("reset", ""), now())
            limits.append(RateLimit(kind, limit, remaining, reset))
    return limits


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text is not None and text.strip().isdecimal() else None
    except (ValueError, OverflowError):
        return None


def _reset(text: str, now: float) -> float | None:
    """Read a time (RFC 3339), a duration such as `6m0s`, or a number of seconds."""
    text = text.strip()
    parts = _DURATION.findall(text)
    if parts and "".join(number + unit for number, unit in parts) == text:
        return now + sum(float(number) * _UNITS[unit] for number, unit in parts)
    seconds = _number(text)
    if seconds is not None:
        return now + seconds
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None
