"""Spans and metrics of calls, by the conventions of OpenTelemetry for generative AI."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from amplifier_providers.running.closing import closing

from ..step import Call, Piece, Step
from ..types import LLMResponse
from .observing import Observation, ObservingLayer, monotonic_ns
from .otel_settings import OtelSettings, make_missing_error

__all__ = ["HEADERS", "OtelLayer", "OtelSettings"]

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from .otel_export import Pipeline

HEADERS = "extra_headers"
"""The option of a call that adds headers to its request."""
_SCOPE = "arcllm"
_MOST_LABELS = 256
_REQUEST = {
    "max_tokens": "gen_ai.request.max_tokens",
    "temperature": "gen_ai.request.temperature",
    "top_p": "gen_ai.request.top_p",
    "top_k": "gen_ai.request.top_k",
}
_USAGE = {
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
    "cache_read_tokens": "gen_ai.usage.cache_read.input_tokens",
    "cache_write_tokens": "gen_ai.usage.cache_creation.input_tokens",
    "reasoning_tokens": "gen_ai.usage.reasoning.output_tokens",
}


class OtelLayer(ObservingLayer["Span"]):
    """Surrounds each call with a span, below the current one, and measures it.

    Nothing of its messages and tools is in either.

    Args:
        beneath: What is asked for the answer.
        settings: Where spans and metrics go.
        pipeline: Where they go instead.
        clock: Returns the current time in nanoseconds.

    Raises:
        ArcLLMConfigError: A package is missing, or a certificate cannot be read.
    """

    def __init__(
        self,
        beneath: Step,
        settings: OtelSettings,
        *,
        pipeline: Pipeline | None = None,
        clock: Callable[[], int] = monotonic_ns,
    ) -> None:
        super().__init__(beneath, clock)
        try:
            from opentelemetry import trace
            from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

            from amplifier_providers.measures import Measures

            from .otel_export import pipeline_of
        except ModuleNotFoundError as error:
            raise make_missing_error(error, "install `amplifier-core[otel]`") from None
        self._pipeline = pipeline or pipeline_of(settings)
        self._tracer = trace.get_tracer(_SCOPE, tracer_provider=self._pipeline.tracers)
        self._trace = trace
        self._propagator = TraceContextTextMapPropagator() if settings.propagate else None
        self._measures = None
        if settings.metrics:
            self._measures = Measures(_SCOPE, str, _MOST_LABELS, self._pipeline.meters)

    async def close(self) -> None:
        """Send what has not been sent yet, and close what is beneath."""
        try:
            await self._pipeline.flush()
        finally:
            await self.beneath.close()

    def _begin_call(self, call: Call) -> tuple[Call, Span]:
        attributes: dict[str, Any] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": self.name,
            "gen_ai.request.model": self.model_name,
        }
        for option, attribute in _REQUEST.items():
            if isinstance(value := call.options.get(option), int | float):
                attributes[attribute] = value
        span = self._tracer.start_span(
            f"chat {self.model_name}", kind=self._trace.SpanKind.CLIENT, attributes=attributes
        )
        if self._propagator is not None and span.get_span_context().is_valid:
            headers: dict[str, str] = dict(call.options.get(HEADERS) or {})
            self._propagator.inject(headers, self._trace.set_span_in_context(span))
            call = replace(call, options={**call.options, HEADERS: headers})
        return call, span

    async def _answer(self, seen: Observation[Span]) -> LLMResponse:
        with self._use_span(seen.mark):
            return await self.beneath.complete(seen.call)

    async def _stream_pieces(self, seen: Observation[Span]) -> AsyncGenerator[Piece]:
        async with closing(self.beneath.stream(seen.call)) as pieces:
            # Only the request is made below the span: the consumer of a piece is no part of it.
            with self._use_span(seen.mark):
                first = await anext(pieces)
            yield first
            async for piece in pieces:
                yield piece

    def _use_span(self, span: Span) -> Any:
        return self._trace.use_span(span, record_exception=False, set_status_on_exception=False)

    def _end_call(self, seen: Observation[Span]) -> None:
        span = seen.mark
        error = seen.outcome if seen.outcome not in ("ok", "stopped") else None
        if span.is_recording():
            span.set_attributes(_final_attributes(seen))
            if error is not None:
                span.set_attribute("error.type", error)
                span.set_status(self._trace.StatusCode.ERROR)
        span.end()
        if self._measures is None:
            return
        about = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": seen.find_note("provider") or seen.provider,
            "gen_ai.request.model": seen.model,
        }
        response = seen.response
        if response is not None:
            about["gen_ai.response.model"] = response.model
        labels = self._measures.make_labels(about)
        self._measures.record_duration(seen.seconds, labels, error)
        if response is not None:
            usage = response.usage
            counts = {"input": usage.input_tokens, "output": usage.output_tokens}
            self._measures.record_tokens(counts, labels)


def _final_attributes(seen: Observation[Any]) -> dict[str, Any]:
    """Return the attributes that are known when a call is over."""
    found: dict[str, Any] = {
        "gen_ai.provider.name": seen.find_note("provider"),
        "gen_ai.response.id": seen.find_note("response_id"),
        "gen_ai.response.time_to_first_chunk": seen.first_seconds,
        "gen_ai.request.stream": seen.is_stream or None,
        "http.response.status_code": getattr(seen.error, "status_code", None),
        "arcllm.request_id": seen.find_note("request_id"),
        "arcllm.retries": seen.find_note("retries"),
    }
    if (cost := seen.find_note("cost_usd")) is not None:
        found["arcllm.cost_usd"] = float(cost)
    if seen.response is not None:
        found["gen_ai.response.model"] = seen.response.model
        found["gen_ai.response.finish_reasons"] = (seen.response.stop_reason,)
        usage = vars(seen.response.usage)
        found |= {attribute: usage[name] for name, attribute in _USAGE.items()}
    return {name: value for name, value in found.items() if value is not None}
