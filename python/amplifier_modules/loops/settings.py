"""The configuration of a loop, read from its mount plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

UNLIMITED = -1
"""The value of `max_iterations` that sets no limit."""


@dataclass(frozen=True)
class LoopSettings:
    """What a loop may be told; a key that is absent or None has its default."""

    max_iterations: int = UNLIMITED
    """Model calls a turn may make before it is asked to wrap up."""
    default_provider: str | None = None
    """Mount name of the provider to use, instead of the one with the lowest priority."""
    extended_thinking: bool = False
    """Whether providers are called with `extended_thinking=True`."""
    reasoning_effort: str | None = None
    """Passed on in each `ChatRequest`."""
    stream_delay: float = 0.0
    """Seconds between the words of an answer that the provider did not stream."""
    min_delay_between_calls_ms: float = 0.0
    """Least milliseconds from the start of one model call to the start of the next."""
    tool_timeout: float | None = None
    """Seconds after which a tool is ended; None for what the session's guard allows."""

    @classmethod
    def from_config(cls, config: Mapping[str, Any] | None) -> LoopSettings:
        """Read the settings and leave keys of other loops alone.

        Raises:
            ValueError: A value is of the wrong kind or out of range.
        """
        given = dict(config or {})
        return cls(
            max_iterations=_iterations(given),
            default_provider=_text(given, "default_provider"),
            extended_thinking=bool(given.get("extended_thinking")),
            reasoning_effort=_text(given, "reasoning_effort"),
            stream_delay=_delay(given, "stream_delay"),
            min_delay_between_calls_ms=_delay(given, "min_delay_between_calls_ms"),
            tool_timeout=_delay(given, "tool_timeout") or None,
        )


def _iterations(given: Mapping[str, Any]) -> int:
    value = given.get("max_iterations")
    if value is None:
        return UNLIMITED
    if isinstance(value, bool) or not isinstance(value, int) or (value < 1 and value != UNLIMITED):
        message = (
            f"`max_iterations` is {value!r} (must be a positive whole number, or -1: no limit)"
        )
        raise ValueError(message)
    return value


def _text(given: Mapping[str, Any], key: str) -> str | None:
    value = given.get(key)
    if value is not None and not isinstance(value, str):
        message = f"`{key}` is {value!r} (must be a string)"
        raise ValueError(message)
    return value or None


def _delay(given: Mapping[str, Any], key: str) -> float:
    value = given.get(key)
    if value is None:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
        message = f"`{key}` is {value!r} (must be a number, zero or more)"
        raise ValueError(message)
    return float(value)
