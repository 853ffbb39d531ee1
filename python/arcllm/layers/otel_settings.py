"""Where spans and metrics go, and the error if a part of OpenTelemetry is not installed."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from amplifier_providers.settings import Settings

from ..exceptions import ArcLLMConfigError


class OtelSettings(Settings):
    """Where spans and metrics go, and how."""

    exporter: Literal["otlp", "console", "none"] = "otlp"
    """`otlp` sends them to a collector, `console` writes them to stderr, and `none` leaves them to the
    providers that the application has set up for OpenTelemetry."""
    protocol: Literal["http", "grpc"] = "http"
    """How a collector is spoken to; `grpc` needs a package of its own."""
    endpoint: str | None = Field(default=None, pattern=r"\Ahttps?://[^\s/]")
    """The address of the collector, for `http` without `/v1/traces`; without it that of
    `OTEL_EXPORTER_OTLP_ENDPOINT`, else this machine."""
    headers: dict[str, str] = Field(default_factory=dict[str, str], repr=False)
    """Sent to the collector with each batch."""
    certificate_file: str | None = None
    """The authorities that may have signed the collector's certificate, as PEM."""
    client_certificate_file: str | None = None
    """The certificate that the collector asks for (mTLS), as PEM."""
    client_key_file: str | None = None
    """The key of that certificate, as PEM."""
    timeout_seconds: float = Field(default=10.0, gt=0, le=600)
    """How long the collector may take."""
    service_name: str | None = None
    """The name of the program; without it that of `OTEL_SERVICE_NAME`."""
    sample_rate: float = Field(default=1.0, ge=0, le=1)
    """The share of traces that is sent; a call in a trace of the application follows that."""
    metrics: bool = True
    """Whether durations and tokens are measured."""
    propagate: bool = True
    """Whether requests carry the trace in the header `traceparent`."""
    max_queue_size: int = Field(default=2048, ge=1, le=1_000_000)
    """Spans that wait to be sent; further ones are lost."""
    max_export_batch_size: int = Field(default=512, ge=1, le=1_000_000)
    """Spans in a batch."""
    schedule_delay_seconds: float = Field(default=5.0, gt=0, le=3600)
    """After which time a batch is sent that is not full."""
    metric_interval_seconds: float = Field(default=60.0, gt=0, le=86_400)
    """After which time metrics are sent again."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        batch, queue = self.max_export_batch_size, self.max_queue_size
        if batch > queue:
            found = f"`max_export_batch_size` is {batch}"
            raise ValueError(f"{found} (must be at most `max_queue_size`, {queue})")
        if (self.client_key_file is None) != (self.client_certificate_file is None):
            raise ValueError("`client_certificate_file` and `client_key_file` need each other")
        return self


def make_missing_error(error: ModuleNotFoundError, advice: str) -> ArcLLMConfigError:
    """Return the error for a part of OpenTelemetry that is not installed.

    Raises:
        ModuleNotFoundError: `error`, if something else is missing.
    """
    if error.name is None or error.name.partition(".")[0] != "opentelemetry":
        raise error
    return ArcLLMConfigError(f"otel: `{error.name}` is not installed; {advice}")
