"""The command and a collector of OpenTelemetry: only the user's environment names one."""

from __future__ import annotations

import gzip
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from amplifier_testing.servers.serving.http import HttpRequest, Reply
from amplifier_testing.servers.serving.recording import RecordingServer

ANSWER = {"type": "text", "text": "All is well."}
SECRET = "correct-horse-battery-staple"


class Collector:
    """Takes what is sent to it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.bodies: list[tuple[str, bytes]] = []

    def spans(self) -> list[Any]:
        return [
            span
            for path, body in self.bodies
            if path == "/v1/traces"
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def metrics(self) -> set[str]:
        return {
            metric.name
            for path, body in self.bodies
            if path == "/v1/metrics"
            for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }


@pytest.fixture
def collector() -> Iterator[Collector]:
    with RecordingServer() as server:
        collector = Collector(server.url)

        def take(request: HttpRequest) -> Reply:
            is_packed = request.headers.get("content-encoding") == "gzip"
            body = gzip.decompress(request.raw) if is_packed else request.raw
            collector.bodies.append((request.path, body))
            return Reply(is_whole=True)

        server.respond(take)
        yield collector


@pytest.fixture
def asked(keyed: Any, model: Any) -> Any:
    """The command, before a model that calls a tool and then answers."""
    keyed.environment["SERVICE_PASSWORD"] = SECRET
    call = {"type": "tool_use", "id": SECRET, "name": "list_directory", "input": {}}
    model.reply(*model.said(call, stop="tool_use"))
    model.reply(*model.said(ANSWER))
    return keyed


# Holds: observe-6
def test_a_turn_is_spans_and_metrics_without_secrets(asked: Any, collector: Collector) -> None:
    asked.environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = collector.url

    done = asked("run", f"What is here? {SECRET}")

    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(span.name.partition(" ")[0] for span in collector.spans()) == [
        "chat", "chat", "execute_tool", "invoke_agent",
    ]  # fmt: skip
    assert len({span.trace_id for span in collector.spans()}) == 1
    assert collector.metrics() == {
        "gen_ai.client.operation.duration",
        "gen_ai.client.token.usage",
    }
    assert all(SECRET.encode() not in body for _, body in collector.bodies)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "/v1/traces"),
        ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "/v1/metrics"),
    ],
)
def test_one_kind_goes_where_it_has_an_address(
    asked: Any, collector: Collector, name: str, path: str
) -> None:
    asked.environment[name] = collector.url + path

    assert asked("run", "What is here?").returncode == 0
    assert {path for path, _ in collector.bodies} == {path}


# Holds: observe-6
def test_without_an_address_nothing_is_observed(asked: Any, collector: Collector) -> None:
    (asked.folder / ".env").write_text(f"OTEL_EXPORTER_OTLP_ENDPOINT={collector.url}\n")
    asked.environment["OTEL_SERVICE_NAME"] = "x"

    assert asked("run", "What is here?").returncode == 0
    asked.environment |= {
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
        "OTEL_SDK_DISABLED": "true",
    }
    assert asked("run", "What is here?").returncode == 0
    assert collector.bodies == []


def test_a_collector_that_is_gone_ends_no_turn(asked: Any) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        asked.environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = f"http://127.0.0.1:{port}"
        done = asked("run", "What is here?")

    assert done.returncode == 0
    assert "All is well." in done.stdout
    assert "Traceback" not in done.stderr


# Has the SDK missing, as where only the API came with another package.
WITHOUT = """
import sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "opentelemetry.sdk" or name.startswith("opentelemetry.exporter"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Finder())
"""


def test_where_the_sdk_is_missing_one_line_says_so(
    asked: Any, collector: Collector, tmp_path: Path
) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(WITHOUT)
    asked.environment["PYTHONPATH"] += f":{tmp_path / 'site'}"
    asked.environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = collector.url

    done = asked("run", "What is here?")

    assert done.returncode == 0
    [line] = done.stderr.splitlines()
    assert line.startswith("warning: `OTEL_EXPORTER_OTLP_ENDPOINT` is set, but `opentelemetry.")
    assert line.endswith("install `amplifier-core[otel]`; continuing without telemetry")
    assert collector.bodies == []
