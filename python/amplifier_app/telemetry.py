"""Sends spans and metrics of a turn to the collector that the environment names."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator, Mapping
from typing import Any

from amplifier_app.notice import show_notice

OBSERVER: dict[str, Any] = {"module": "hooks-observe", "config": {"opentelemetry": True}}
"""The hook module that makes the spans and metrics, as in a mount plan."""

_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
_TRACES = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
_METRICS = "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"
_GRACE_SECONDS = 2.0
"""How long the last spans and metrics may take at the end of the command."""


@contextlib.contextmanager
def export_telemetry(environment: Mapping[str, str]) -> Generator[list[dict[str, Any]]]:
    """Send spans and metrics while in this block, if there is a collector to send them to.

    OpenTelemetry reads all its other settings from the environment itself.

    Args:
        environment: The environment variables; the address comes from nowhere else.

    Yields:
        The hooks to mount: `OBSERVER`, or nothing.
    """
    named = {name for name in (_ENDPOINT, _TRACES, _METRICS) if environment.get(name, "").strip()}
    if not named or environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        yield []
        return
    try:
        shutdowns = _set_up(traces=named != {_METRICS}, metrics=named != {_TRACES})
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "opentelemetry":
            raise
        what = f"`{min(named)}` is set, but `{error.name}` is not installed"
        show_notice(
            f"warning: {what}; install `amplifier-core[otel]`; continuing without telemetry"
        )
        yield []
        return
    try:
        yield [OBSERVER]
    finally:
        _shut_down(shutdowns)


def _set_up(*, traces: bool, metrics: bool) -> list[Callable[[], object]]:
    """Give OpenTelemetry its exporters; what is returned sends the rest and ends them."""
    shutdowns: list[Callable[[], object]] = []
    # Imported here: it takes longer than everything else that the command imports.
    if traces:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        tracers = TracerProvider(shutdown_on_exit=False)
        tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        trace.set_tracer_provider(tracers)
        shutdowns.append(tracers.shutdown)
    if metrics:
        from opentelemetry import metrics as measures
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

        reader = PeriodicExportingMetricReader(OTLPMetricExporter())
        meters = MeterProvider([reader], shutdown_on_exit=False)
        measures.set_meter_provider(meters)
        shutdowns.append(meters.shutdown)
    return shutdowns


def _shut_down(shutdowns: list[Callable[[], object]]) -> None:
    """Send the rest, as long as that takes no longer than a user would wait for it."""
    # Daemon threads: an exporter tries a collector that is gone again for a long time.
    threads = [threading.Thread(target=shutdown, daemon=True) for shutdown in shutdowns]
    for thread in threads:
        thread.start()
    # Late, as the kernel warns at its import where the extension is missing, and `start` says it.
    from amplifier_core import world

    end = world.monotonic() + _GRACE_SECONDS
    for thread in threads:
        thread.join(max(0.0, end - world.monotonic()))
    if any(thread.is_alive() for thread in threads):
        show_notice(
            f"warning: telemetry could not be sent within {_GRACE_SECONDS:g} s; check the collector"
        )
