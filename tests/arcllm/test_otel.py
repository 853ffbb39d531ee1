"""OpenTelemetry: one span for each call, its metrics, and the trace in the request."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import anyio
import anyio.to_thread
import pytest
from fake_step import Clock, FakeStep, api_error, ask, response
from opentelemetry import trace
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from amplifier_testing.servers.serving.http import Reply
from amplifier_testing.servers.serving.recording import RecordingServer
from arcllm import ArcLLMAPIError, ArcLLMConfigError, Usage
from arcllm.layers.otel import OtelLayer, OtelSettings
from arcllm.layers.otel_export import Pipeline, pipeline_of
from arcllm.layers.stack import build_stack, clear_cache

USAGE = Usage(
    input_tokens=10, output_tokens=5, total_tokens=15, cache_read_tokens=4, reasoning_tokens=2
)


class Recorded:
    """What the SDK was given."""

    def __init__(self) -> None:
        self.clock = Clock()
        self._exporter = InMemorySpanExporter()
        self._reader = InMemoryMetricReader()
        self.tracers = TracerProvider(shutdown_on_exit=False)
        self.tracers.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.pipeline = Pipeline(
            self.tracers, MeterProvider([self._reader], shutdown_on_exit=False)
        )

    def layer(self, step: FakeStep, **settings) -> OtelLayer:
        chosen = OtelSettings(**settings)
        return OtelLayer(step, chosen, pipeline=self.pipeline, clock=self.clock)

    @property
    def spans(self) -> list[Any]:
        return list(self._exporter.get_finished_spans())

    def points(self, metric: str) -> list[tuple[float, dict[str, Any]]]:
        data = self._reader.get_metrics_data()
        return [
            (point.sum, dict(point.attributes))
            for resource in (data.resource_metrics if data else ())
            for scope in resource.scope_metrics
            for each in scope.metrics
            if each.name == metric
            for point in each.data.data_points
        ]


# Holds: layer-24
async def test_a_call_is_a_span_with_the_attributes_of_the_conventions():
    recorded = Recorded()
    metadata = {"cost_usd": 0.5, "request_id": "req_1"}
    answer = response(usage=USAGE, model="small-1", metadata=metadata)
    call = ask("a secret", options={"temperature": 0.5, "max_tokens": 9, "tool_choice": "auto"})

    await recorded.layer(FakeStep([answer])).complete(call)

    (span,) = recorded.spans
    assert (span.name, span.kind) == ("chat small", trace.SpanKind.CLIENT)
    assert dict(span.attributes) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "fake",
        "gen_ai.request.model": "small",
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.max_tokens": 9,
        "gen_ai.response.model": "small-1",
        "gen_ai.response.finish_reasons": ("end_turn",),
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 5,
        "gen_ai.usage.cache_read.input_tokens": 4,
        "gen_ai.usage.reasoning.output_tokens": 2,
        "arcllm.cost_usd": 0.5,
        "arcllm.request_id": "req_1",
    }


async def test_a_stream_has_the_time_to_its_first_piece():
    recorded = Recorded()

    async for _ in recorded.layer(FakeStep([response("a b")])).stream(ask()):
        recorded.clock.now += 10**9

    attributes = recorded.spans[0].attributes
    assert attributes["gen_ai.request.stream"] is True
    assert attributes["gen_ai.response.time_to_first_chunk"] == 0.0
    assert recorded.points("gen_ai.client.operation.duration")[0][0] == 2.0


async def test_metrics_count_durations_and_tokens():
    recorded = Recorded()

    await recorded.layer(FakeStep([response(usage=USAGE)])).complete(ask())

    about = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "fake",
        "gen_ai.request.model": "small",
        "gen_ai.response.model": "small",
    }
    assert recorded.points("gen_ai.client.operation.duration") == [(0.0, about)]
    assert recorded.points("gen_ai.client.token.usage") == [
        (10, {**about, "gen_ai.token.type": "input"}),
        (5, {**about, "gen_ai.token.type": "output"}),
    ]


async def test_a_failure_is_the_error_of_its_span_without_what_was_said():
    recorded = Recorded()

    with pytest.raises(ArcLLMAPIError):
        await recorded.layer(FakeStep([api_error(529)])).complete(ask())

    (span,) = recorded.spans
    assert span.status.status_code is trace.StatusCode.ERROR
    assert span.attributes["error.type"] == "ArcLLMAPIError"
    assert span.attributes["http.response.status_code"] == 529
    assert "overloaded" not in span.to_json()
    (point,) = recorded.points("gen_ai.client.operation.duration")
    assert point[1]["error.type"] == "ArcLLMAPIError"


async def test_a_cancelled_call_ends_its_span():
    recorded = Recorded()

    with anyio.CancelScope() as scope:
        scope.cancel()
        await recorded.layer(FakeStep()).complete(ask())

    assert recorded.spans[0].attributes["error.type"] == "cancelled"


@pytest.mark.parametrize("streams", [False, True])
async def test_the_request_carries_the_trace_and_the_call_is_the_current_span(streams):
    recorded, step = Recorded(), FakeStep()
    current = []

    def answered(call):
        current.append(trace.get_current_span().get_span_context())
        return response()

    step.answers = [answered]
    layer = recorded.layer(step)
    call = ask(options={"extra_headers": {"x-mine": "1"}})
    with recorded.tracers.get_tracer("test").start_as_current_span("request of a user") as outer:
        if streams:
            async for _ in layer.stream(call):
                assert trace.get_current_span() is outer
        else:
            await layer.complete(call)

    span = recorded.spans[0]
    assert span.parent == outer.get_span_context()
    assert current == [span.context]
    traceparent = f"00-{span.context.trace_id:032x}-{span.context.span_id:016x}-{span.context.trace_flags:02x}"
    headers = {"x-mine": "1", "traceparent": traceparent}
    assert step.calls[0].options == {"extra_headers": headers}
    assert call.options == {"extra_headers": {"x-mine": "1"}}


async def test_nothing_is_added_to_a_request_where_nobody_asked_for_it():
    recorded, step = Recorded(), FakeStep()

    await recorded.layer(step, propagate=False).complete(ask())

    assert step.calls[0].options == {}


async def test_without_metrics_there_are_only_spans():
    recorded = Recorded()

    await recorded.layer(FakeStep(), metrics=False).complete(ask())

    assert len(recorded.spans) == 1
    assert recorded.points("gen_ai.client.operation.duration") == []


async def test_who_answered_instead_is_in_the_span():
    recorded = Recorded()

    def answered(call):
        call.notes["provider"] = "other"
        return response(model="big")

    step = FakeStep([answered])
    await OtelLayer(Noting(step), OtelSettings(), pipeline=recorded.pipeline).complete(ask())

    attributes = recorded.spans[0].attributes
    assert attributes["gen_ai.provider.name"] == "other"
    assert attributes["gen_ai.request.model"] == "small"
    assert attributes["gen_ai.response.model"] == "big"


class Noting(FakeStep):
    """Notes on the call itself, not on a copy of it, as layers do."""

    def __init__(self, step: FakeStep) -> None:
        super().__init__(step.answers)

    def _next(self, call):
        return self.answers[0](call)


@pytest.fixture
def collector(http_server):
    """A collector on this machine."""
    http_server.respond(Reply())
    return http_server


@pytest.fixture
def shut_down() -> Iterator[list[Pipeline]]:
    """End the pipelines that a test has opened."""
    pipelines: list[Pipeline] = []
    yield pipelines
    clear_cache()
    for pipeline in pipelines:
        for provider in (pipeline.tracers, pipeline.meters):
            if provider is not None:
                provider.shutdown()


async def test_closing_a_model_sends_spans_and_metrics_to_the_collector(collector, shut_down):
    settings = {
        "endpoint": collector.url, "headers": {"x-team": "blue"}, "service_name": "shop",
    }  # fmt: skip
    shut_down.append(pipeline_of(OtelSettings(**settings)))
    stack = build_stack(FakeStep(), {"otel": settings}, lambda name, model: FakeStep())

    await stack.complete(ask())
    await stack.close()

    sent = {each.path: each.raw for each in collector.requests}
    assert len(sent) == len(collector.requests)
    traces = ExportTraceServiceRequest.FromString(sent["/v1/traces"])
    measured = ExportMetricsServiceRequest.FromString(sent["/v1/metrics"])
    assert traces.resource_spans[0].scope_spans[0].spans[0].name == "chat small"
    named = {
        each.key: each.value.string_value for each in traces.resource_spans[0].resource.attributes
    }
    assert named["service.name"] == "shop"
    assert measured.resource_metrics[0].scope_metrics[0].scope.name == "arcllm"
    assert {each.headers["x-team"] for each in collector.requests} == {"blue"}


async def test_no_span_is_sent_at_a_sample_rate_of_nothing(collector, shut_down):
    settings = {"endpoint": collector.url, "sample_rate": 0.0, "metrics": False}
    shut_down.append(pipeline_of(OtelSettings(**settings)))
    stack = build_stack(FakeStep(), {"otel": settings}, lambda name, model: FakeStep())

    await stack.complete(ask())
    await stack.close()

    assert collector.requests == []


async def test_a_collector_that_is_gone_takes_nobody_the_answer(shut_down, caplog):
    caplog.set_level("CRITICAL")
    with RecordingServer() as gone:
        settings = {"endpoint": gone.url, "timeout_seconds": 0.1}
    shut_down.append(pipeline_of(OtelSettings(**settings)))
    provider = FakeStep()
    stack = build_stack(provider, {"otel": settings}, lambda name, model: FakeStep())

    assert await stack.complete(ask()) == response()
    await stack.close()

    assert provider.closed == 1


async def test_while_a_collector_is_silent_only_one_closing_waits_for_it():
    class Silent(TracerProvider):
        def force_flush(self, timeout_millis: int = 0) -> bool:
            begun.append(timeout_millis)
            asked.set()
            released.wait(10)
            return True

    begun: list[int] = []
    asked, released = threading.Event(), threading.Event()
    pipeline = Pipeline(Silent(shutdown_on_exit=False))
    layer = OtelLayer(FakeStep(), OtelSettings(metrics=False), pipeline=pipeline)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(layer.close)
        await anyio.to_thread.run_sync(asked.wait, 10)
        await layer.close()
        released.set()

    assert len(begun) == 1


def test_models_with_the_same_settings_share_the_way_to_the_collector(shut_down):
    settings = OtelSettings(endpoint="http://127.0.0.1:9")
    shut_down.append(pipeline_of(settings))

    assert pipeline_of(OtelSettings(endpoint="http://127.0.0.1:9")) is shut_down[0]
    clear_cache()
    shut_down.append(pipeline_of(settings))
    assert shut_down[1] is not shut_down[0]


def test_the_console_is_stderr():
    program = (
        "import anyio; from arcllm.layers.stack import build_stack; from fake_step import *;"
        "stack = build_stack(FakeStep(), {'otel': {'exporter': 'console'}}, None);"
        "anyio.run(stack.complete, ask())"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True,
        cwd=__file__.rpartition("/")[0],
    )  # fmt: skip

    assert run.stdout == ""
    assert '"name": "chat small"' in run.stderr
    assert "gen_ai.client.token.usage" in run.stderr


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"exporter": "otpl"}, "otel: `exporter` is 'otpl' (must be `otlp`, `console` or `none`)"),
        ({"protocol": "udp"}, "otel: `protocol` is 'udp' (must be `http` or `grpc`)"),
        ({"sample_rate": 1.5}, "otel: `sample_rate` is 1.5 (must be a number, at least 0"),
        ({"endpoint": "collector:4318"}, "otel: `endpoint` is 'collector:4318'"),
        ({"headers": {"k": 5}}, "otel: `headers.k` is of type `int`"),
        ({"client_key_file": "key.pem"}, "otel: `client_certificate_file` and `client_key_file`"),
        (
            {"max_queue_size": 5},
            "otel: `max_export_batch_size` is 512 (must be at most `max_queue_size`, 5)",
        ),
        ({"insecure": True}, "otel: `insecure` is unknown"),
        ({"certificate_file": "/missing.pem"}, "otel: [Errno 2] No such file or directory: '/mis"),
    ],
)
def test_a_wrong_setting_is_refused(settings, message):
    with pytest.raises(ArcLLMConfigError) as refused:
        build_stack(FakeStep(), {"otel": settings}, lambda name, model: FakeStep())

    assert refused.value.message.startswith(message)


@pytest.mark.parametrize(
    ("module", "settings", "message"),
    [
        (
            "opentelemetry",
            {},
            "otel: `opentelemetry` is not installed; install `amplifier-core[otel]`",
        ),
        (
            "opentelemetry.sdk.trace",
            {},
            "otel: `opentelemetry.sdk.trace` is not installed; install",
        ),
        (
            "opentelemetry.exporter.otlp.proto.grpc",
            {"protocol": "grpc"},
            "otel: `protocol` is 'grpc', which needs the package `opentelemetry-exporter-otlp-proto-g",
        ),
    ],
)
def test_a_package_that_is_missing_is_named(module, settings, message):
    program = f"""if True:
        import sys
        sys.modules[{module!r}] = None
        from arcllm import ArcLLMConfigError
        from arcllm.layers.stack import build_stack
        from fake_step import FakeStep
        try:
            build_stack(FakeStep(), {{"otel": {settings!r}}}, None)
        except ArcLLMConfigError as error:
            print(error.message)
    """
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True,
        cwd=__file__.rpartition("/")[0],
    )  # fmt: skip

    assert run.stdout.startswith(message)
