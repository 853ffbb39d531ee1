"""What is measured of processed answers, by an injected clock."""

from __future__ import annotations

import json
from itertools import count
from typing import Any

import pytest

from amplifier_core import ModuleCoordinator, world
from amplifier_stream import AgentEvent, StreamChunk, StreamMetrics, process_stream_sync


def test_latency_overhead_and_outcomes_are_counted() -> None:
    ticks = count()
    metrics = StreamMetrics(clock=lambda: next(ticks) / 1000)
    events: list[AgentEvent] = []
    process_stream_sync(
        [StreamChunk("a"), StreamChunk(finished=True)], events.append, metrics=metrics
    )
    # A chunk is received and decided in one tick; each of its events is emitted a tick later.
    assert metrics.snapshot() == {
        "streams": 1,
        "streams_failed": 0,
        "streams_cancelled": 0,
        "streams_truncated": 0,
        "chunks": 2,
        "events": 3,
        "tools_succeeded": 0,
        "tools_failed": 0,
        "tool_success_rate": None,
        "event_latency_seconds": {
            "count": 3,
            "sum": pytest.approx(0.007),
            "max": pytest.approx(0.003),
            "buckets": [[0.002, 2], [0.005, 1]],
        },
        "processing_overhead_seconds": {
            "count": 2,
            "sum": pytest.approx(0.002),
            "max": pytest.approx(0.001),
            "buckets": [[0.001, 2]],
        },
    }


@pytest.mark.parametrize(
    ("chunks", "counted"),
    [
        ([StreamChunk(error="no")], {"streams_failed": 1, "streams_truncated": 1}),
        ([StreamChunk("a")], {"streams_failed": 0, "streams_truncated": 1}),
    ],
)
def test_answers_that_end_badly_are_counted(
    chunks: list[StreamChunk], counted: dict[str, int]
) -> None:
    metrics = StreamMetrics()
    process_stream_sync(chunks, lambda _: None, metrics=metrics)
    assert {name: metrics.snapshot()[name] for name in counted} == counted


async def test_hooks_read_the_metrics_and_tools_are_counted() -> None:
    coordinator = ModuleCoordinator()
    metrics = StreamMetrics()
    detach = metrics.attach(coordinator)
    seen: list[dict[str, Any]] = []

    def hook(event: str, data: dict[str, Any]) -> None:
        seen.append(coordinator.get_capability("stream.metrics").snapshot())

    coordinator.hooks.register("turn:end", hook, name="reader")
    await coordinator.hooks.emit("tool:post", {"result": {"success": True}})
    await coordinator.hooks.emit("tool:post", {"result": {"success": False}})
    await coordinator.hooks.emit("tool:post", {"result": "text"})
    await coordinator.hooks.emit("tool:error", {"error": {}})
    detach()
    await coordinator.hooks.emit("tool:error", {"error": {}})
    await coordinator.hooks.emit("turn:end", {})
    counted = {name: seen[0][name] for name in ("tools_succeeded", "tools_failed")}
    assert counted == {"tools_succeeded": 2, "tools_failed": 2}
    assert seen[0]["tool_success_rate"] == 0.5
    assert json.loads(json.dumps(seen[0])) == seen[0]


def test_without_metrics_no_clock_is_read() -> None:
    class Forbidden(world.World):
        def monotonic(self) -> float:
            raise AssertionError("the clock was read")

    with world.use(Forbidden()):
        result = process_stream_sync([StreamChunk("a"), StreamChunk(finished=True)], lambda _: None)
    assert result.assistant_content == "a"
