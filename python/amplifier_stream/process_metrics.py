"""Measures the latency of events, the cost of processing, and the success of tools."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import Any

from amplifier_core import world
from amplifier_core.events import TOOL_ERROR, TOOL_POST
from amplifier_core.session_capabilities import STREAM_METRICS as CAPABILITY

__all__ = ["CAPABILITY", "StreamMetrics"]


_BOUNDS = tuple(base * 10.0**power for power in range(-6, 2) for base in (1.0, 2.0, 5.0))


class StreamMetrics:
    """Counters and histograms of processed answers.

    An answer that is processed without them is not measured.
    """

    def __init__(self, clock: Callable[[], float] = world.monotonic) -> None:
        """Measure with this clock, which counts seconds."""
        self.clock = clock
        self._latency = Histogram()
        self._overhead = Histogram()
        self._counters = dict.fromkeys(
            ("streams", "streams_failed", "streams_cancelled", "streams_truncated",
             "chunks", "events", "tools_succeeded", "tools_failed"), 0,
        )  # fmt: skip

    def chunk(self, decided: float) -> None:
        """Count a chunk whose events took this many seconds to decide."""
        self._counters["chunks"] += 1
        self._overhead.add(decided)

    def event(self, latency: float) -> None:
        """Count an event that was emitted this many seconds after its chunk was received."""
        self._counters["events"] += 1
        self._latency.add(latency)

    def stream(self, *, failed: bool, cancelled: bool, truncated: bool) -> None:
        """Count an answer that ended."""
        self._counters["streams"] += 1
        self._counters["streams_failed"] += failed
        self._counters["streams_cancelled"] += cancelled
        self._counters["streams_truncated"] += truncated

    def tool(self, *, succeeded: bool) -> None:
        """Count a tool that ran."""
        self._counters["tools_succeeded" if succeeded else "tools_failed"] += 1

    def attach(self, coordinator: Any) -> Callable[[], None]:
        """Count the tools of a session, and make the metrics available to its hooks.

        Hooks find the metrics as the capability `stream.metrics` of the coordinator.

        Returns:
            A callable that stops the counting.
        """
        coordinator.register_capability(CAPABILITY, self)
        removers = [
            coordinator.hooks.register(event, self._on_tool, priority=1000, name=CAPABILITY)
            for event in (TOOL_POST, TOOL_ERROR)
        ]

        def detach() -> None:
            for remove in removers:
                remove()

        return detach

    def snapshot(self) -> dict[str, Any]:
        """Return a copy of all measurements as plain data.

        Durations are in seconds; see `Histogram.snapshot` for the form of a histogram.
        """
        counters = dict(self._counters)
        tools = counters["tools_succeeded"] + counters["tools_failed"]
        return {
            **counters,
            "tool_success_rate": counters["tools_succeeded"] / tools if tools else None,
            "event_latency_seconds": self._latency.snapshot(),
            "processing_overhead_seconds": self._overhead.snapshot(),
        }

    def _on_tool(self, event: str, data: dict[str, Any]) -> None:
        result = data.get("result")
        success = result.get("success", True) if isinstance(result, dict) else True  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] -- opaque payload
        self.tool(succeeded=event == TOOL_POST and success is not False)


class Histogram:
    """A histogram of durations in seconds."""

    def __init__(self) -> None:
        self._counts = [0] * (len(_BOUNDS) + 1)
        self._sum = 0.0
        self._largest: float | None = None

    def add(self, value: float) -> None:
        """Count a value."""
        self._counts[bisect_left(_BOUNDS, value)] += 1
        self._sum += value
        self._largest = value if self._largest is None else max(self._largest, value)

    def snapshot(self) -> dict[str, Any]:
        """Return the histogram as plain data.

        `buckets` are pairs of an upper bound and the number of values up to it and above the bound
        before; the last bound, None, is for larger values. Empty buckets are left out.
        """
        bounds = (*_BOUNDS, None)
        filled = [[b, n] for b, n in zip(bounds, self._counts, strict=True) if n]
        return {
            "count": sum(self._counts),
            "sum": self._sum,
            "max": self._largest,
            "buckets": filled,
        }
