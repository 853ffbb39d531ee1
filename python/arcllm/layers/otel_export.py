"""Where spans and metrics of this process go: one way out for all models with the same settings."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Protocol, runtime_checkable

import anyio
from anyio import to_thread
from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import TracerProvider

from ..exceptions import ArcLLMConfigError
from .otel_settings import OtelSettings, make_missing_error

_FLUSH_SECONDS = 2.0
"""How long the closing of a model waits for a collector."""

_pipelines: dict[str, Pipeline] = {}
_choosing = Lock()


@runtime_checkable
class _Sending(Protocol):
    """A provider of the SDK."""

    def force_flush(self, timeout_millis: int) -> object: ...


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Takes spans and metrics; None leaves them to the providers that the application has set."""

    tracers: TracerProvider | None = None
    meters: MeterProvider | None = None
    flushing: Lock = field(default_factory=Lock)

    async def flush(self) -> None:
        """Send what has not been sent yet, as far as that takes no longer than 2 s.

        While a collector is silent, only one call waits for it.
        """
        if self.tracers is not None and not self.flushing.locked():
            with anyio.move_on_after(_FLUSH_SECONDS):
                await to_thread.run_sync(self._flush, abandon_on_cancel=True)

    def _flush(self) -> None:
        with self.flushing:
            for provider in (self.tracers, self.meters):
                if isinstance(provider, _Sending):
                    provider.force_flush(round(_FLUSH_SECONDS * 1000))


def pipeline_of(settings: OtelSettings) -> Pipeline:
    """Return the pipeline of some settings, a new one only if there is none.

    Raises:
        ArcLLMConfigError: A package is missing, or a certificate cannot be read.
    """
    if settings.exporter == "none":
        return Pipeline()
    key = settings.model_dump_json()
    with _choosing:
        if key not in _pipelines:
            try:
                _pipelines[key] = _open(settings)
            except OSError as error:
                raise ArcLLMConfigError(f"otel: {error}") from None
        return _pipelines[key]


def clear_pipelines() -> None:
    """Forget all pipelines; each still sends what it has when the process ends."""
    with _choosing:
        _pipelines.clear()


def _open(settings: OtelSettings) -> Pipeline:
    try:
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.sdk.trace.sampling import ParentBasedTraceIdRatio
    except ModuleNotFoundError as error:
        raise make_missing_error(error, "install `amplifier-core[otel]`") from None
    to_spans, to_metrics = _make_exporters(settings)
    named = {} if settings.service_name is None else {"service.name": settings.service_name}
    resource = Resource.create(named)
    tracers = TracerProvider(ParentBasedTraceIdRatio(settings.sample_rate), resource)
    tracers.add_span_processor(
        BatchSpanProcessor(
            to_spans,
            max_queue_size=settings.max_queue_size,
            schedule_delay_millis=settings.schedule_delay_seconds * 1000,
            max_export_batch_size=settings.max_export_batch_size,
        )
    )
    if not settings.metrics:
        return Pipeline(tracers)
    reader = PeriodicExportingMetricReader(to_metrics, settings.metric_interval_seconds * 1000)
    return Pipeline(tracers, MeterProvider([reader], resource))


def _make_exporters(settings: OtelSettings) -> tuple[Any, Any]:
    """Return the exporter of spans, and that of metrics."""
    if settings.exporter == "console":
        from opentelemetry.sdk.metrics.export import ConsoleMetricExporter
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        return ConsoleSpanExporter(out=sys.stderr), ConsoleMetricExporter(out=sys.stderr)
    options: dict[str, Any] = {
        "headers": settings.headers or None,
        "timeout": settings.timeout_seconds,
    }
    files = (settings.certificate_file, settings.client_key_file, settings.client_certificate_file)
    contents = [_read_content(path) for path in files]  # also over HTTP, which would fail later
    if settings.protocol == "grpc":
        return _over_grpc(settings, options, contents)
    try:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    except ModuleNotFoundError as error:
        raise make_missing_error(error, "install `amplifier-core[otel]`") from None
    options |= {
        "certificate_file": settings.certificate_file,
        "client_certificate_file": settings.client_certificate_file,
        "client_key_file": settings.client_key_file,
    }
    if settings.endpoint is None:
        return OTLPSpanExporter(**options), OTLPMetricExporter(**options)
    base = settings.endpoint.rstrip("/")
    spans = OTLPSpanExporter(endpoint=f"{base}/v1/traces", **options)
    return spans, OTLPMetricExporter(endpoint=f"{base}/v1/metrics", **options)


def _over_grpc(
    settings: OtelSettings, options: dict[str, Any], contents: list[bytes | None]
) -> tuple[Any, Any]:
    # Not in the extra: `grpcio` is larger than all else that is installed.
    from importlib import import_module

    package = "opentelemetry.exporter.otlp.proto.grpc"
    try:
        grpc = import_module("grpc")
        span_exporter = import_module(f"{package}.trace_exporter").OTLPSpanExporter
        metric_exporter = import_module(f"{package}.metric_exporter").OTLPMetricExporter
    except ModuleNotFoundError:
        name = "opentelemetry-exporter-otlp-proto-grpc"
        message = (
            f"`protocol` is 'grpc', which needs the package `{name}`; install it or use 'http'"
        )
        raise ArcLLMConfigError(f"otel: {message}") from None
    if any(contents):
        options["credentials"] = grpc.ssl_channel_credentials(*contents)
    if settings.endpoint is not None:
        options |= {
            "endpoint": settings.endpoint,
            "insecure": settings.endpoint.startswith("http://"),
        }
    return span_exporter(**options), metric_exporter(**options)


def _read_content(path: str | None) -> bytes | None:
    if path is None:
        return None
    with open(path, "rb") as file:
        return file.read()
