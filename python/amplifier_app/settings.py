"""What the environment of the user sets: retries of the model, and rates."""

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
"""Variables, and the keys of a provider's config that they set."""
_RATES = {"TOOL_RATE": "tool", "PROVIDER_RATE": "provider"}
"""Variables, and whose calls they limit. A user has but one prompt in a run of the command."""
_MOST_RETRIES = 1_000


def provider_settings(environment: Mapping[str, str]) -> dict[str, Any]:
    """The config of a provider, as far as it is set here.

    Raises:
        Failure: A value cannot be used.
    """
    return {
        key: _count(name, text) if key == "max_retries" else _seconds(name, text)
        for name, key in _RETRIES.items()
        if (text := environment.get(name, "").strip())
    }


def guard_settings(environment: Mapping[str, str]) -> dict[str, Any]:
    """The config of `hooks-guard`, as far as it is set here.

    Raises:
        Failure: A value cannot be used.
    """
    rates = {
        key: _rate(name, text)
        for name, key in _RATES.items()
        if (text := environment.get(name, "").strip())
    }
    return {"rates": rates} if rates else {}


def _count(name: str, text: str) -> int:
    if text.isdecimal() and text.isascii() and len(text) < 9 and int(text) <= _MOST_RETRIES:
        return int(text)
    raise _wrong(name, text, f"a whole number from 0 to {_MOST_RETRIES}")


def _seconds(name: str, text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if 0 <= seconds < math.inf:
        return seconds
    raise _wrong(name, text, "seconds, zero or more")


def _rate(name: str, text: str) -> dict[str, Any]:
    calls, _, period = text.partition("/")
    if calls.isdecimal() and calls.isascii() and len(calls) < 9 and int(calls) >= 1:
        try:
            seconds = float(period or 60)
        except ValueError:
            seconds = math.nan
        if 0 < seconds < math.inf:
            return {"limit": int(calls), "period": seconds}
    raise _wrong(name, text, "calls and seconds such as `30/60`")


def _wrong(name: str, found: str, expected: str) -> Failure:
    message = f"`{name}` is `{found}`, but must be {expected}"
    return Failure(f"{message}; correct the environment variable")
