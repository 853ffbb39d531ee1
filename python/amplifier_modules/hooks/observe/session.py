"""Observes a session through its events: traces, statistics, failures, telemetry."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, cast

from amplifier_core import world
from amplifier_core.events import (
    EXECUTION_END,
    EXECUTION_START,
    LLM_POST,
    LLM_PRE,
    LLM_REQUEST,
    LLM_RESPONSE,
    PROMPT_SUBMIT,
    PROVIDER_ERROR,
    PROVIDER_RESPONSE,
    TOOL_ERROR,
    TOOL_POST,
    TOOL_PRE,
)
from amplifier_guard import ErrorContext, PastOperation, Redactor
from amplifier_guard.inspection import content_of, inspect_blocks
from amplifier_guard.trace import listen, log_decisions
from amplifier_modules.running.session_bound import session_bound
from amplifier_providers.statistics import OTHER, Statistics
from amplifier_stream import StreamMetrics

from .calls import ENDS, ModelCall, error_type, read_mapping, text_at
from .settings import ObserveSettings
from .traces import FAILURE, ToolTraces

__all__ = ["NAME", "SessionObserver"]

logger = logging.getLogger("amplifier_modules.hooks.observe")

NAME = "hooks-observe"

_BEFORE_OTHERS = -1_000_000
_AFTER_OTHERS = 2_000_000
"""`tool:pre` last: the time of other hooks is not the tool's, and a denied call never begins."""
_MAX_HISTORY = 32


class SessionObserver:
    """What happened in a session, without its secrets.

    Args:
        settings: What is observed.
        redactor: Removes the secrets.
        telemetry: Where spans and metrics go, if anywhere.
        stream_metrics: Returns the `StreamMetrics` of the session, or None; a loop may attach them
            later.
        now: Returns the current time.
        clock: A monotonic clock in seconds.
    """

    def __init__(
        self,
        settings: ObserveSettings,
        redactor: Redactor,
        telemetry: Any = None,
        stream_metrics: Callable[[], Any] = lambda: None,
        now: Callable[[], datetime] = lambda: datetime.fromtimestamp(world.time(), UTC),
        clock: Callable[[], float] = world.monotonic,
    ) -> None:
        self.statistics = Statistics(settings.most_labels)
        self.traces = ToolTraces(settings.most_traces, now, clock)
        self._settings = settings
        self._redactor = redactor
        self._telemetry = telemetry
        self._stream_metrics = stream_metrics
        self._now = now
        self._clock = clock
        self._failures: deque[ErrorContext] = deque(maxlen=settings.most_traces)
        self._history: deque[PastOperation] = deque(maxlen=_MAX_HISTORY)
        self._turn: float | None = None
        self._turn_error: str | None = None
        self._call: ModelCall | None = None
        self._handlers: dict[str, Callable[[Mapping[str, Any]], None]] = {
            EXECUTION_START: self._turn_begins,
            EXECUTION_END: self._turn_ends,
            PROMPT_SUBMIT: self._note_prompt,
            LLM_PRE: lambda data: self._model_begins(LLM_PRE, data),
            LLM_REQUEST: lambda data: self._model_begins(LLM_REQUEST, data),
            LLM_POST: lambda data: self._model_ends(LLM_POST, data),
            LLM_RESPONSE: lambda data: self._model_ends(LLM_RESPONSE, data),
            PROVIDER_RESPONSE: self._note_answer,
            PROVIDER_ERROR: self._model_failed,
            TOOL_PRE: self._tool_begins,
            TOOL_POST: self._tool_ends,
            TOOL_ERROR: self._tool_failed,
        }

    def attach(self, hooks: Any) -> Callable[[], None]:
        """Observe these hooks; the returned callable stops it."""
        removers = [
            hooks.register(
                event,
                self._observe,
                priority=_AFTER_OTHERS if event == TOOL_PRE else _BEFORE_OTHERS,
                name=NAME,
            )
            for event in self._handlers
        ]

        stop_listening = None if self._settings.rust == "off" else listen(self._settings.rust)

        def detach() -> None:
            for remove in removers:
                remove()
            self._turn_ends({"status": "cancelled"})
            if stop_listening is not None:
                log_decisions(self._redactor)
                stop_listening()

        return detach

    @property
    def failures(self) -> list[ErrorContext]:
        """The latest failures, each with the operations before it, oldest first."""
        return list(self._failures)

    def snapshot(self) -> dict[str, Any]:
        """Return a copy of everything as plain data; `stream` only where answers are measured."""
        metrics = self._stream_metrics()
        return {
            **self.statistics.snapshot(),
            **({"stream": metrics.snapshot()} if isinstance(metrics, StreamMetrics) else {}),
            "tools": [trace.as_dict() for trace in self.traces],
            "failures": [failure.model_dump(mode="json") for failure in self._failures],
        }

    @session_bound
    def _observe(self, event: str, data: Mapping[str, Any]) -> None:
        self._handlers[event](data)
        if self._settings.rust != "off":
            log_decisions(self._redactor)

    def _turn_begins(self, data: Mapping[str, Any]) -> None:
        if self._turn is not None:
            self._turn_ends({"status": "cancelled"})
        self._turn, self._turn_error = self._clock(), None
        if self._telemetry is not None:
            self._telemetry.turn_begins(self._now())

    def _turn_ends(self, data: Mapping[str, Any]) -> None:
        if self._call is not None:
            self._close_call(self._call)
        self.traces.abandon()
        if self._turn is None:
            return
        seconds, self._turn = self._clock() - self._turn, None
        status = text_at(data, "status")
        error = None
        if status in {"error", "cancelled"}:
            error = (self._turn_error or OTHER) if status == "error" else status
        self.statistics.count_duration("turn", "turn", seconds)
        self._remember("turn", error)
        logger.debug("turn: %.1f ms, %s", seconds * 1000, error or "completed")
        if self._telemetry is not None:
            self._telemetry.turn_ends(self._now(), seconds, error)

    def _note_prompt(self, data: Mapping[str, Any]) -> None:
        self._observe_content("prompt", [text_at(data, "prompt")])

    def _model_begins(self, event: str, data: Mapping[str, Any]) -> None:
        if self._call is not None:
            if event != self._call.begun_by:
                return
            self._close_call(self._call)
        self._call = ModelCall(
            event, self._read_redacted(data, "provider"), self._read_redacted(data, "model"),
            self._now(), self._clock(),
        )  # fmt: skip

    def _model_ends(self, event: str, data: Mapping[str, Any]) -> None:
        call = self._call
        if call is None:
            return
        call.read(data)
        if event != ENDS[call.begun_by]:
            return
        call.end, call.duration = self._now(), self._clock() - call.begun
        # The event `provider:error`, which follows, has the kind of the failure.
        if data.get("status") != "error" or event == LLM_RESPONSE:
            self._close_call(call)

    def _model_failed(self, data: Mapping[str, Any]) -> None:
        error = self._redactor.redact(error_type(data))
        if self._call is not None:
            self._call.error = error
            self._close_call(self._call)
        self._turn_error = error
        self._note_failure("model", error, data, {"provider": "provider", "model": "model"})

    def _close_call(self, call: ModelCall) -> None:
        self._call = None
        if call.end is None:
            call.end, call.duration = self._now(), self._clock() - call.begun
            call.error = call.error or OTHER
        self.statistics.count_duration("model", call.name, call.duration)
        for kind, count in (("input", call.usage.input), ("output", call.usage.output)):
            if count is not None:
                self.statistics.count_tokens(kind, count)
        self._remember(f"model {call.name}", call.error)
        milliseconds, outcome = call.duration * 1000, call.error or "completed"
        logger.debug("model `%s`: %.1f ms, %s", call.name, milliseconds, outcome)
        if self._telemetry is not None:
            self._telemetry.model_called(call)

    def _note_answer(self, data: Mapping[str, Any]) -> None:
        response = read_mapping(data.get("response"))
        if "content" in response:
            self._observe_content("answer", response["content"])

    def _tool_begins(self, data: Mapping[str, Any]) -> None:
        self.traces.begin(self._read_redacted(data, "tool_call_id"))

    def _tool_ends(self, data: Mapping[str, Any]) -> None:
        result = data.get("result")
        fields = read_mapping(result)
        error = None
        if fields.get("success") is False:
            error = self._redactor.redact(error_type(fields)).replace(OTHER, FAILURE)
        output = fields.get("output") if "output" in fields else result
        self._observe_content("result", [{"type": "tool_result", "output": output}])
        self._tool_ran(data, result, error)

    def _tool_failed(self, data: Mapping[str, Any]) -> None:
        message = text_at(
            read_mapping(data.get("error")), "msg"
        )  # what the model gets as the result
        self._observe_content("result", [{"type": "tool_result", "output": message}])
        self._tool_ran(data, None, self._redactor.redact(error_type(data)))

    def _tool_ran(self, data: Mapping[str, Any], result: Any, error: str | None) -> None:
        name, call_id = (
            self._read_redacted(data, "tool_name"),
            self._read_redacted(data, "tool_call_id"),
        )
        trace = self.traces.finish(call_id, name, result, error)
        if trace.duration is not None:
            self.statistics.count_duration("tool", name, trace.duration)
        self._remember(f"tool {name}", error)
        logger.debug("%s", trace)
        if error is not None:
            self._note_failure(f"tool {name}", error, data, {})
        if self._telemetry is not None:
            self._telemetry.tool_ran(trace)

    def _observe_content(self, role: str, content: Any) -> None:
        blocks = cast("list[Any]", content) if isinstance(content, list) else [content]
        for block in blocks:
            kind, text = content_of(block)
            self.statistics.block(self._redactor.redact(kind), len(text))
        if self._settings.development and logger.isEnabledFor(logging.DEBUG):
            for view in inspect_blocks(blocks, self._redactor):
                logger.debug("%s %s", role, view)

    def _note_failure(
        self, operation: str, error: str, data: Mapping[str, Any], more: Mapping[str, str]
    ) -> None:
        """Count a failure, and keep the operations before it."""
        self.statistics.count_error(error)
        builder = ErrorContext.builder(operation, redact=self._redactor, timestamp=self._now())
        builder.metadata("error", error)
        if message := text_at(read_mapping(data.get("error")), "msg"):
            builder.metadata("message", message)
        for name, key in more.items():
            builder.metadata(name, text_at(data, key))
        if call_id := text_at(data, "tool_call_id"):
            builder.tool_use_id(call_id)
        context = builder.build()
        context.history = list(self._history)
        self._failures.append(context)
        logger.info("%s", context)

    def _remember(self, operation: str, error: str | None) -> None:
        self._history.append(PastOperation(operation=operation, timestamp=self._now(), error=error))

    def _read_redacted(self, data: Mapping[str, Any], key: str) -> str:
        return self._redactor.redact(text_at(data, key))
