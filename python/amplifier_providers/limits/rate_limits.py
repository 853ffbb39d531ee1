"""What the headers of an answer say about the limits of the service, in the forms of all services."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from amplifier_core import world

_HEADER = re.compile(
    r"anthropic-ratelimit-(?P<kind>[a-z0-9-]{1,40})-(?P<what>limit|remaining|reset)"
    r"|(?:x-)?ratelimit-(?P<late_what>limit|remaining|reset)(?:-(?P<late_kind>[a-z0-9-]{1,40}))?"
)
_NUMBER = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,9})?")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)(ms|s|m|h|d)")
_EPOCH_SECONDS = 1e9
"""From here on a number is a moment, in seconds since the epoch, and no duration."""
_EPOCH_MILLISECONDS = 1e11
_MAX_WAIT_SECONDS = 86_400.0
"""A service that asks for a longer wait does not mean this request."""


@dataclass(frozen=True)
class RateLimit:
    """How much of one limit is left."""

    kind: str
    """What is limited: `requests`, `tokens`, `input-tokens`."""
    limit: float
    remaining: float
    reset: float | None
    """When it is whole again, in seconds since the epoch; None if unknown."""


def rate_limits(
    headers: Mapping[str, str], now: Callable[[], float] = world.time
) -> list[RateLimit]:
    """Return the limits that the headers of an answer name in full; others are ignored.

    Args:
        headers: The headers of Anthropic or OpenAI, and of the many that write theirs the same way.
        now: Returns the current time, in seconds since the epoch.
    """
    limits: list[RateLimit] = []
    for kind, values in _headers_by_limit(headers).items():
        limit, remaining = _read_number(values.get("limit")), _read_number(values.get("remaining"))
        if limit is not None and remaining is not None:
            reset = _reset(values.get("reset", ""), now())
            limits.append(RateLimit(kind, limit, remaining, reset))
    return limits


def reset_wait(headers: Mapping[str, str], now: Callable[[], float] = world.time) -> float | None:
    """Return the seconds until all limits are whole again of which nothing is left.

    This is what a refusal without `retry-after` says about the next call; None if it does not.

    Args:
        headers: The headers of the refusal.
        now: Returns the current time, in seconds since the epoch.
    """
    current = now()
    waits = [
        reset - current
        for values in _headers_by_limit(headers).values()
        if not _read_number(values.get("remaining"))
        and (reset := _reset(values.get("reset", ""), current)) is not None
    ]
    return max((wait for wait in waits if 0 < wait <= _MAX_WAIT_SECONDS), default=None)


def _headers_by_limit(headers: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return what the headers say of each kind of limit."""
    found: dict[str, dict[str, str]] = {}
    for name, value in headers.items():
        if match := _HEADER.fullmatch(name.lower()):
            kind = match["kind"] or match["late_kind"] or "calls"
            found.setdefault(kind, {})[match["what"] or match["late_what"]] = value
    return found


def _read_number(text: str | None) -> float | None:
    return float(text) if text is not None and _NUMBER.fullmatch(text.strip()) else None


def _reset(text: str, now: float) -> float | None:
    """Read a moment (RFC 3339, or since the epoch), or seconds, or a duration such as `6m0s`."""
    text = text.strip()
    parts = _DURATION.findall(text)
    if parts and "".join(number + unit for number, unit in parts) == text:
        return now + sum(float(number) * _UNITS[unit] for number, unit in parts)
    number = _read_number(text)
    if number is not None:
        if number >= _EPOCH_MILLISECONDS:
            return number / 1000
        return number if number >= _EPOCH_SECONDS else now + number
    try:
        moment = datetime.fromisoformat(text)
        seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
    return seconds if math.isfinite(seconds) else None
