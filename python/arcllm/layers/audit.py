"""A record of each call: who was asked when, and how it ended; its texts only if asked for."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import Field

from amplifier_core import world
from amplifier_guard import Redactor
from amplifier_providers.settings import Settings

from ..step import Call, Step
from .log_line import LogLine
from .observing import Observation, ObservingLayer, monotonic_ns
from .telemetry import record_of

logger = logging.getLogger("arcllm.audit")

_LEVELS = logging.getLevelNamesMapping()


class AuditSettings(Settings):
    """What is recorded of a call."""

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] = "INFO"
    """The level of the records, which the logger `arcllm.audit` writes."""
    format: Literal["key_value", "json"] = "key_value"
    """How the values of a record are written; they are also its attribute `arcllm`."""
    include_messages: bool = False
    """Whether a further record, at the level `DEBUG`, has the messages, without secrets. They are
    those of the program, personal data included: `security` is beneath."""
    include_response: bool = False
    """The same for the answer."""
    secrets: list[str] = Field(default_factory=list[str], repr=False)
    """Known secrets, which are taken out of records besides all that looks like one."""


class AuditLayer(ObservingLayer[float]):
    """Writes a record of each call, also of those that failed or were cancelled.

    Args:
        beneath: What is asked for the answer.
        settings: What is recorded.
        clock: Returns the current time in nanoseconds, for durations.
        now: Returns the current time, in seconds since the epoch.
    """

    def __init__(
        self,
        beneath: Step,
        settings: AuditSettings,
        *,
        clock: Callable[[], int] = monotonic_ns,
        now: Callable[[], float] = world.time,
    ) -> None:
        super().__init__(beneath, clock)
        self._settings = settings
        self._level = _LEVELS[settings.log_level]
        self._redactor = Redactor(settings.secrets)
        self._now = now

    def _begin_call(self, call: Call) -> tuple[Call, float]:
        return call, self._now()

    def _end_call(self, seen: Observation[float]) -> None:
        if logger.isEnabledFor(self._level):
            self._write(self._level, self._collect_metadata(seen))
        settings = self._settings
        if (settings.include_messages or settings.include_response) and logger.isEnabledFor(
            logging.DEBUG
        ):
            self._write(logging.DEBUG, self._collect_contents(seen))

    def _collect_metadata(self, seen: Observation[float]) -> dict[str, Any]:
        began = datetime.fromtimestamp(seen.mark, UTC).isoformat(timespec="milliseconds")
        values: dict[str, Any] = {
            "time": began,
            **record_of(seen),
            "stream": seen.is_stream,
            "messages": len(seen.call.messages),
            "tools": len(seen.call.tools or ()),
        }
        if seen.response is not None and seen.response.tool_calls:
            values["called"] = [call.name for call in seen.response.tool_calls]
        return values

    def _collect_contents(self, seen: Observation[float]) -> dict[str, Any]:
        values: dict[str, Any] = {
            "request_id": seen.find_note("request_id"),
            "outcome": seen.outcome,
        }
        if self._settings.include_messages:
            values["messages"] = [
                message.model_dump(exclude={"opaque"}) for message in seen.call.messages
            ]
        if self._settings.include_response and seen.response is not None:
            parts = {"content", "thinking", "tool_calls", "stop_reason"}
            values["response"] = seen.response.model_dump(include=parts)
        return values

    def _write(self, level: int, values: dict[str, Any]) -> None:
        shown = self._redactor.redact_data(values)
        line = LogLine(shown, as_json=self._settings.format == "json")
        logger.log(level, "%s", line, extra={"arcllm": shown})
