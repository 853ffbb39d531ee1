"""One line in the log for each call: how long it took, and what it used."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Literal

from pydantic import Field

from amplifier_providers.settings import Settings

from ..step import Step
from .log_line import LogLine
from .observing import Observation, ObservingLayer, monotonic_ns

logger = logging.getLogger("arcllm.telemetry")

_LEVELS = logging.getLevelNamesMapping()
_NOTES = (
    "agent",
    "cost_usd",
    "request_id",
    "fallback",
    "routed",
    "retries",
    "rate_limit_wait_seconds",
)


class TelemetrySettings(Settings):
    """What becomes of what is known of a call."""

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] = "INFO"
    """The level of the records, which the logger `arcllm.telemetry` writes; what they say is also
    their attribute `arcllm`."""
    callback: Callable[[dict[str, Any]], object] | None = Field(default=None, repr=False)
    """Called with the values of each record, in the task of the call; it should be quick."""


class TelemetryLayer(ObservingLayer[None]):
    """Writes a record of each call as `key=value`, without anything of its messages.

    Args:
        beneath: What is asked for the answer.
        settings: What becomes of the records.
        clock: Returns the current time in nanoseconds.
    """

    def __init__(
        self,
        beneath: Step,
        settings: TelemetrySettings,
        *,
        clock: Callable[[], int] = monotonic_ns,
    ) -> None:
        super().__init__(beneath, clock)
        self._level = _LEVELS[settings.log_level]
        self._callback = settings.callback

    def _end_call(self, seen: Observation[None]) -> None:
        is_logged = logger.isEnabledFor(self._level)
        if not is_logged and self._callback is None:
            return
        values = record_of(seen)
        if is_logged:
            logger.log(self._level, "%s", LogLine(values), extra={"arcllm": values})
        if self._callback is not None:
            try:
                self._callback(values)
            except Exception:
                logger.exception("the callback of `telemetry` failed")


def record_of(seen: Observation[Any]) -> dict[str, Any]:
    """Return what is known of a call; what is not known is left out."""
    response = seen.response
    values: dict[str, Any] = {
        "provider": seen.find_note("provider") or seen.provider,
        "model": seen.model if response is None else response.model,
        "outcome": seen.outcome,
        "duration_seconds": seen.seconds,
        "first_token_seconds": seen.first_seconds,
    }
    if response is not None:
        # Not by `model_dump`, which takes longer than all else of a record.
        values |= vars(response.usage)
        values["stop_reason"] = response.stop_reason
        values["tool_calls"] = len(response.tool_calls)
    elif seen.error is not None:
        values["status_code"] = getattr(seen.error, "status_code", None)
    for name in _NOTES:
        values[name] = seen.find_note(name)
    return {name: value for name, value in values.items() if value is not None}
