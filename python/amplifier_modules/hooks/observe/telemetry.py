"""Spans and metrics by the semantic conventions of OpenTelemetry for generative AI.

They contain no messages and no arguments of tools, and every text is redacted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from opentelemetry import trace
from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, TracerProvider

from amplifier_providers.measures import Measures

from .calls import ModelCall
from .traces import ToolTrace

__all__ = ["Telemetry"]

_SCOPE = "amplifier_modules.hooks.observe"


class Telemetry:
    """The spans and metrics of one session.

    Args:
        session_id: The conversation of the spans.
        redact: Removes the secrets from a text.
        most_labels: The limit of values of an attribute of a metric.
        tracers: Where spans go; None for the provider that the application has set.
        meters: Where metrics go; None for the provider that the application has set.
    """

    def __init__(
        self,
        session_id: str,
        redact: Callable[[str], str],
        most_labels: int,
        tracers: TracerProvider | None = None,
        meters: MeterProvider | None = None,
    ) -> None:
        self._tracer = trace.get_tracer(_SCOPE, tracer_provider=tracers)
        self._measures = Measures(_SCOPE, redact, most_labels, meters)
        self._session_id = session_id
        self._redact = redact
        self._turn: Span | None = None

    def turn_begins(self, start: datetime) -> None:
        """Begin the span of a turn, below the current span."""
        self._turn = self._tracer.start_span(
            "invoke_agent",
            kind=SpanKind.INTERNAL,
            attributes=self._make_attributes("invoke_agent"),
            start_time=_count_nanoseconds(start),
        )

    def turn_ends(self, end: datetime, seconds: float, error: str | None) -> None:
        """End the span of a turn."""
        if self._turn is None:
            return
        self._finish(self._turn, end, error)
        self._turn = None
        labels = self._measures.make_labels({"gen_ai.operation.name": "invoke_agent"})
        self._measures.record_duration(seconds, labels, error)

    def model_called(self, call: ModelCall) -> None:
        """Record a finished model call."""
        end = call.end or call.start
        measured = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": call.provider,
            "gen_ai.request.model": call.model,
            "gen_ai.response.model": call.response_model or call.model,
        }
        measured = {key: value for key, value in measured.items() if value}
        usage = {
            "gen_ai.usage.input_tokens": call.usage.input,
            "gen_ai.usage.output_tokens": call.usage.output,
            "gen_ai.usage.cache_read.input_tokens": call.usage.cache_read,
            "gen_ai.usage.cache_creation.input_tokens": call.usage.cache_write,
        }
        attributes: dict[str, Any] = {
            **self._make_attributes("chat"),
            **{key: self._redact(value) for key, value in measured.items()},
            **{key: count for key, count in usage.items() if count is not None},
        }
        if call.finish_reason:
            attributes["gen_ai.response.finish_reasons"] = (self._redact(call.finish_reason),)
        if self._turn is not None and call.provider:
            self._turn.set_attribute("gen_ai.provider.name", self._redact(call.provider))
        name = f"chat {self._redact(call.model)}".rstrip()
        self._record_span(name, SpanKind.CLIENT, attributes, call.start, end, call.error)
        labels = self._measures.make_labels(measured)
        self._measures.record_duration(call.duration, labels, call.error)
        self._measures.record_tokens(
            {"input": call.usage.input, "output": call.usage.output}, labels
        )

    def tool_ran(self, ran: ToolTrace) -> None:
        """Record a finished tool call."""
        attributes = {
            **self._make_attributes("execute_tool"),
            "gen_ai.tool.name": ran.tool,
            "gen_ai.tool.call.id": ran.tool_use_id,
            "gen_ai.tool.type": "function",
        }
        name = f"execute_tool {ran.tool}"
        self._record_span(name, SpanKind.INTERNAL, attributes, ran.start, ran.end, ran.error)
        if ran.duration is not None:
            about = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": ran.tool}
            self._measures.record_duration(
                ran.duration, self._measures.make_labels(about), ran.error
            )

    def _make_attributes(self, operation: str) -> dict[str, Any]:
        return {
            "gen_ai.operation.name": operation,
            "gen_ai.conversation.id": self._redact(self._session_id),
        }

    def _record_span(
        self,
        name: str,
        kind: SpanKind,
        attributes: Mapping[str, Any],
        start: datetime,
        end: datetime,
        error: str | None,
    ) -> None:
        # The parent is set explicitly: hooks do not run in the context of the turn.
        parent = None if self._turn is None else trace.set_span_in_context(self._turn)
        span = self._tracer.start_span(
            name, parent, kind, attributes=attributes, start_time=_count_nanoseconds(start)
        )
        self._finish(span, end, error)

    def _finish(self, span: Span, end: datetime, error: str | None) -> None:
        if error is not None:
            span.set_attribute("error.type", self._redact(error))
            span.set_status(Status(StatusCode.ERROR))
        span.end(_count_nanoseconds(end))


def _count_nanoseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1e9)
