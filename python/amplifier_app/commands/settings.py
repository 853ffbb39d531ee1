"""Settings from the environment variables of the user: retries and rates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from amplifier_app.failure import Failure

_RETRIES = {
    "PROVIDER_MAX_RETRIES": "max_retries",
    "PROVIDER_RETRY_DELAY": "min_retry_delay",
    "PROVIDER_RETRY_BUDGET": "retry_budget",
}
"""Environment variables, and the keys of a provider's config that they set."""
_MAX_RETRIES = 1_000
_MAX_PERIOD_SECONDS = 31_536_000  # a year


def provider_settings(environment: Mapping[str, str]) -> dict[str, Any]:
    """The config of a provider, as far as the environment sets it.

    Raises:
        Failure: A value cannot be used.
    """
    config: dict[str, Any] = {
        key: _count(name, text) if key == "max_retries" else _seconds(name, text)
        for name, key in _RETRIES.items()
        if (text := environment.get(name, "").strip())
    }
    if rate := environment.get("PROVIDER_RATE", "").strip():
        config["rate"] = _rate("PROVIDER_RATE", rate)
    return config


def guard_settings(environment: Mapping[str, str]) -> dict[str, Any]:
    """The config of `hooks-guard`, as far as the environment sets it.

    Raises:
        Failure: A value cannot be used.
    """
    rate = environment.get("TOOL_RATE", "").strip()
    return {"rates": {"tool": _rate("TOOL_RATE", rate)}} if rate else {}


def _count(name: str, text: str) -> int:
    if text.isdecimal() and text.isascii() and len(text) < 9 and int(text) <= _MAX_RETRIES:
        return int(text)
    raise _wrong(name, text, f"a whole number from 0 to {_MAX_RETRIES}")


def _seconds(name: str, text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if 0 <= seconds < math.inf:
        return seconds
    raise _wrong(name, text, "a number of seconds, zero or more")


def _rate(name: str, text: str) -> dict[str, Any]:
    calls, _, period = text.partition("/")
    if calls.isdecimal() and calls.isascii() and len(calls) < 7 and int(calls) >= 1:
        try:
            seconds = float(period or 60)
        except ValueError:
            seconds = math.nan
        if 0.001 <= seconds <= _MAX_PERIOD_SECONDS:
            return {"limit": int(calls), "period": seconds}
    raise _wrong(name, text, "calls per seconds, such as `30/60`")


def _wrong(name: str, found: str, expected: str) -> Failure:
    message = f"`{name}` is `{found}`, but must be {expected}"
    return Failure(message, hint="correct the environment variable")
