"""Spans and metrics of `hooks-observe`, as OpenTelemetry's own SDK takes them."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from amplifier_core import ModuleCoordinator
from amplifier_core.events import EXECUTION_START, LLM_REQUEST, LLM_RESPONSE
from amplifier_core.llm_errors import ConfigurationError, RateLimitError
from amplifier_core.message_models import Usage
from amplifier_guard import Redactor
from amplifier_modules.hooks import observe
from amplifier_modules.hooks.observe.session import SessionObserver
from amplifier_modules.hooks.observe.settings import ObserveSettings
from amplifier_modules.hooks.observe.telemetry import Telemetry

SECRET = "hunter2-hunter2-hunter2"


class Recorded:
    """What the SDK was given."""

    def __init__(self, *secrets: str, most_labels: int = 64) -> None:
        self._exporter = InMemorySpanExporter()
        self.tracers = TracerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self._exporter))
        self._reader = InMemoryMetricReader()
        meters = MeterProvider([self._reader])
        self._redactor = Redactor(list(secrets))
        self.telemetry = Telemetry(
            "session-1", self._redactor.redact, most_labels, self.tracers, meters
        )

    def observe(self, hooks: Any) -> SessionObserver:
        observer = SessionObserver(ObserveSettings(), self._redactor, self.telemetry)
        observer.attach(hooks)
        return observer

    @property
    def spans(self) -> list[Any]:
        return list(self._exporter.get_finished_spans())

    def points(self, metric: str) -> list[Any]:
        data = self._reader.get_metrics_data()
        return [
            point
            for resource in (data.resource_metrics if data else ())
            for scope in resource.scope_metrics
            for each in scope.metrics
            if each.name == metric
            for point in each.data.data_points
        ]


# Holds: observe-5
async def test_a_turn_is_a_span_with_its_calls_below_it(bench, say):
    usage = Usage(
        input_tokens=7, output_tokens=2, total_tokens=9, cache_read_tokens=3, cache_write_tokens=1
    )
    turn = bench("basic", say.calls(("toolu_1", "look", {})), say.text("done", usage=usage))
    turn.tool("look", lambda given: "seen")
    turn.provider.default_model = "model-1"
    recorded = Recorded()
    recorded.observe(turn.coordinator.hooks)
    await turn.run()

    about = {"gen_ai.conversation.id": "session-1"}
    chat = {
        **about,
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "scripted",
        "gen_ai.request.model": "model-1",
        "gen_ai.response.model": "model-1",
    }
    assert [(span.name, span.kind.name, dict(span.attributes)) for span in recorded.spans] == [
        (
            "chat model-1",
            "CLIENT",
            {**chat, "gen_ai.response.finish_reasons": ("tool_use",)},
        ),
        (
            "execute_tool look",
            "INTERNAL",
            {
                **about,
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "look",
                "gen_ai.tool.call.id": "toolu_1",
                "gen_ai.tool.type": "function",
            },
        ),
        (
            "chat model-1",
            "CLIENT",
            {
                **chat,
                "gen_ai.usage.input_tokens": 7,
                "gen_ai.usage.output_tokens": 2,
                "gen_ai.usage.cache_read.input_tokens": 3,
                "gen_ai.usage.cache_creation.input_tokens": 1,
            },
        ),
        (
            "invoke_agent",
            "INTERNAL",
            {**about, "gen_ai.operation.name": "invoke_agent", "gen_ai.provider.name": "scripted"},
        ),
    ]
    *children, agent = recorded.spans
    assert {child.parent.span_id for child in children} == {agent.context.span_id}
    assert all(child.start_time <= child.end_time for child in recorded.spans)
    assert {child.status.status_code.name for child in recorded.spans} == {"UNSET"}


async def test_a_turn_is_below_the_span_of_the_application(bench, say):
    turn = bench("basic", say.text("done"))
    recorded = Recorded()
    recorded.observe(turn.coordinator.hooks)
    with trace.use_span(recorded.tracers.get_tracer("app").start_span("request")) as outer:
        await turn.run()

    agent = recorded.spans[-1]
    assert (agent.name, agent.parent.span_id) == ("invoke_agent", outer.get_span_context().span_id)


# Holds: observe-5
async def test_metrics_have_the_names_and_labels_of_the_conventions(bench, say):
    usage = Usage(input_tokens=7, output_tokens=2, total_tokens=9)
    turn = bench("basic", say.calls(("1", "look", {})), say.text("done", usage=usage))
    turn.tool("look", lambda given: "seen")
    turn.provider.default_model = "model-1"
    recorded = Recorded()
    recorded.observe(turn.coordinator.hooks)
    await turn.run()

    chat = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "scripted",
        "gen_ai.request.model": "model-1",
        "gen_ai.response.model": "model-1",
    }
    durations = recorded.points("gen_ai.client.operation.duration")
    tokens = recorded.points("gen_ai.client.token.usage")
    assert [(dict(point.attributes), point.count) for point in durations] == [
        (chat, 2),
        ({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"}, 1),
        ({"gen_ai.operation.name": "invoke_agent"}, 1),
    ]
    assert durations[0].explicit_bounds[:3] == (0.01, 0.02, 0.04)
    assert durations[0].explicit_bounds[-1] == pytest.approx(81.92)
    assert [(dict(point.attributes), point.sum) for point in tokens] == [
        ({**chat, "gen_ai.token.type": "input"}, 7),
        ({**chat, "gen_ai.token.type": "output"}, 2),
    ]
    assert tokens[0].explicit_bounds[-1] == 67_108_864


async def test_a_failure_has_its_type_and_nothing_of_its_text(bench, say):
    turn = bench("basic", RateLimitError(f"slow down, {SECRET}"))
    recorded = Recorded()
    recorded.observe(turn.coordinator.hooks)
    with pytest.raises(RateLimitError):
        await turn.run()

    failed = [
        (span.name.split()[0], span.attributes["error.type"], span.status.status_code.name)
        for span in recorded.spans
    ]
    assert failed == [
        ("chat", "RateLimitError", "ERROR"),
        ("invoke_agent", "RateLimitError", "ERROR"),
    ]
    assert SECRET not in "".join(span.to_json() for span in recorded.spans)
    durations = recorded.points("gen_ai.client.operation.duration")
    assert [point.attributes["error.type"] for point in durations] == ["RateLimitError"] * 2


# Holds: observe-4
async def test_no_secret_reaches_a_span_or_a_metric(bench, say):
    turn = bench("basic", say.calls((SECRET, SECRET, {"x": SECRET}), text=SECRET), say.text(SECRET))
    turn.tool(SECRET, lambda given: SECRET)
    recorded = Recorded(SECRET)
    recorded.observe(turn.coordinator.hooks)
    await turn.run(SECRET)

    labels = [p.attributes for p in recorded.points("gen_ai.client.operation.duration")]
    told = "".join(span.to_json() for span in recorded.spans) + repr(labels)
    assert "REDACTED" in told
    assert SECRET[:8] not in told


# Holds: observe-3
async def test_the_labels_of_metrics_are_limited():
    coordinator = ModuleCoordinator()
    recorded = Recorded(most_labels=2)
    recorded.observe(coordinator.hooks)
    for number in range(20):
        model = {"provider": "p", "model": f"model-{number}"}
        await coordinator.hooks.emit(LLM_REQUEST, model)
        await coordinator.hooks.emit(LLM_RESPONSE, {**model, "status": "ok"})

    points = recorded.points("gen_ai.client.operation.duration")
    assert {(p.attributes["gen_ai.request.model"], p.count) for p in points} == {
        ("model-0", 1),
        ("model-1", 1),
        ("_OTHER", 18),
    }
    assert len(recorded.spans) == 20


async def test_a_turn_that_never_ends_has_its_span_ended_by_the_next_one():
    coordinator = ModuleCoordinator()
    recorded = Recorded()
    recorded.observe(coordinator.hooks)
    await coordinator.hooks.emit(EXECUTION_START, {"prompt": "one"})
    await coordinator.hooks.emit(LLM_REQUEST, {"provider": "p", "model": "m"})
    await coordinator.hooks.emit(EXECUTION_START, {"prompt": "two"})

    assert [(span.name, span.attributes["error.type"]) for span in recorded.spans] == [
        ("chat m", "_OTHER"),
        ("invoke_agent", "cancelled"),
    ]


async def test_without_the_api_there_is_no_telemetry_unless_it_was_asked_for(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    monkeypatch.delitem(sys.modules, "amplifier_modules.hooks.observe.telemetry", raising=False)
    await observe.mount(ModuleCoordinator(), {})
    with pytest.raises(ConfigurationError, match="needs `opentelemetry-api`"):
        await observe.mount(ModuleCoordinator(), {"opentelemetry": True})
