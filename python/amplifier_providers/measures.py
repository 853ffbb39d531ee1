"""The metrics of the semantic conventions of OpenTelemetry for generative AI.

Every text is redacted, and every attribute has a limited set of values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from opentelemetry import metrics
from opentelemetry.metrics import MeterProvider

from .statistics import Labels

__all__ = ["Measures"]

_SECONDS = tuple(0.01 * 2**power for power in range(14))
_TOKENS = tuple(float(4**power) for power in range(14))
"""The bounds that the conventions recommend."""


class Measures:
    """How long operations take, and how many tokens they use.

    Args:
        scope: Who measures.
        redact: Removes the secrets from a text.
        most_labels: The limit of values of an attribute.
        meters: Where metrics go; None for the provider that the application has set.
    """

    def __init__(
        self,
        scope: str,
        redact: Callable[[str], str],
        most_labels: int,
        meters: MeterProvider | None = None,
    ) -> None:
        meter = metrics.get_meter(scope, meter_provider=meters)
        self._duration = meter.create_histogram(
            "gen_ai.client.operation.duration", unit="s", description="Duration of an operation",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )  # fmt: skip
        self._tokens = meter.create_histogram(
            "gen_ai.client.token.usage", unit="{token}", description="Tokens of a model call",
            explicit_bucket_boundaries_advisory=_TOKENS,
        )  # fmt: skip
        self._redact = redact
        self._labels = {
            name: Labels(most_labels)
            for name in (
                "gen_ai.provider.name", "gen_ai.request.model", "gen_ai.response.model",
                "gen_ai.tool.name", "error.type",
            )
        }  # fmt: skip

    def make_labels(self, about: Mapping[str, str]) -> dict[str, str]:
        """Return the attributes of an operation, redacted and of a limited set of values."""
        return {
            key: self._labels[key].label(self._redact(value)) if key in self._labels else value
            for key, value in about.items()
        }

    def record_duration(self, seconds: float, labels: Mapping[str, str], error: str | None) -> None:
        """Record how long an operation took, and the type of its failure."""
        if error is not None:
            name = self._labels["error.type"].label(self._redact(error))
            labels = {**labels, "error.type": name}
        self._duration.record(seconds, labels)

    def record_tokens(self, counts: Mapping[str, int | None], labels: Mapping[str, str]) -> None:
        """Record the tokens of a model call, by their type: `input` and `output`."""
        for kind, count in counts.items():
            if count is not None:
                self._tokens.record(count, {**labels, "gen_ai.token.type": kind})
