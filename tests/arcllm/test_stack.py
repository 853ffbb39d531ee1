"""The stack: any layers in any order keep the answer, the messages and the connections in order."""

from __future__ import annotations

import copy
import logging
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from fake_step import Clock, FakeStep, api_error, ask, response, take
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from amplifier_guard import PersonalData, Redactor
from arcllm import ArcLLMAPIError, ArcLLMConfigError, LLMResponse, Message, TextBlock, Tool
from arcllm.deltas import TextDelta
from arcllm.layers.audit import AuditLayer, AuditSettings
from arcllm.layers.budget import BudgetLayer, BudgetSettings
from arcllm.layers.fallback import FallbackLayer, FallbackSettings
from arcllm.layers.layer import Layer
from arcllm.layers.otel import OtelLayer, OtelSettings
from arcllm.layers.otel_export import Pipeline
from arcllm.layers.rate_limit import RateLimitLayer, RateLimitSettings
from arcllm.layers.retry import RetryLayer, RetrySettings
from arcllm.layers.routing import RoutingLayer, RoutingSettings
from arcllm.layers.security import SecurityLayer, SecuritySettings
from arcllm.layers.stack import ORDER, build_stack, clear_cache
from arcllm.layers.telemetry import TelemetryLayer, TelemetrySettings
from arcllm.layers.tool_calls import ToolCallLayer
from arcllm.step import Call, Piece, Step

LAYERS = (*ORDER, "tool_calls")
ANSWER = response("one two three")


AUDIT = logging.getLogger("arcllm.audit")
BUDGET = {"prices": {"*": {"input": 10, "output": 20}}, "busy_seconds": 60}


class Audited(logging.Handler):
    """Keeps the records."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@pytest.fixture(autouse=True, scope="module")
def audit_level() -> Iterator[None]:
    before = AUDIT.level
    AUDIT.setLevel(logging.INFO)
    yield
    AUDIT.setLevel(before)


class Counting(Layer):
    """Counts the calls that reach the layer beneath."""

    count = 0

    async def complete(self, call: Call) -> LLMResponse:
        self.count += 1
        return await self.beneath.complete(call)

    def stream(self, call: Call) -> AsyncGenerator[Piece]:
        self.count += 1
        return self.beneath.stream(call)


@dataclass
class World:
    """A stack in some order above providers in memory, and all that it leaves behind."""

    order: list[str]
    failures: int = 0
    cancel_at: int | None = None
    """The await at which the call is cancelled."""
    awaits: int = 0
    scope: anyio.CancelScope | None = None
    records: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    steps: list[FakeStep] = field(default_factory=list[FakeStep])
    counts: dict[str, Counting] = field(default_factory=dict[str, Counting])
    folder: Path = Path()
    """Where the file of the budget is."""

    @classmethod
    @asynccontextmanager
    async def of(cls, *args: Any) -> AsyncIterator[World]:
        """Make a world that is gone afterwards."""
        with TemporaryDirectory() as folder:
            world = cls(*args, folder=Path(folder))
            AUDIT.addHandler(world.audited)
            try:
                yield world
            finally:
                AUDIT.removeHandler(world.audited)
                world.cancel_at = None
                await world.stack.close()

    def __post_init__(self) -> None:
        clear_cache()
        self.clock = Clock(pause=self.pause)
        self.audited = Audited()
        self.spans = InMemorySpanExporter()
        tracers = TracerProvider(shutdown_on_exit=False)
        tracers.add_span_processor(SimpleSpanProcessor(self.spans))
        self.pipeline = Pipeline(tracers)
        errors = [api_error(503) for _ in range(self.failures)]
        self.stack: Step = self.provider("fake", [*errors, ANSWER])
        for name in reversed(self.order):
            self.stack = self.counts[name] = Counting(self.layer(name, self.stack))

    async def pause(self) -> None:
        self.awaits += 1
        if self.awaits == self.cancel_at and self.scope is not None:
            self.scope.cancel()
        await anyio.lowlevel.checkpoint()

    def provider(self, name: str, answers: list[Any]) -> FakeStep:
        self.steps.append(FakeStep(answers, name=name, pause=self.pause))
        return self.steps[-1]

    def other(self, name: str, model: str | None) -> FakeStep:
        return self.provider(name, [ANSWER])

    def layer(self, name: str, beneath: Step) -> Step:
        clock, sleep = self.clock, self.clock.sleep
        match name:
            case "otel":
                settings = OtelSettings(metrics=False)
                return OtelLayer(beneath, settings, pipeline=self.pipeline, clock=clock)
            case "telemetry":
                settings = TelemetrySettings(callback=self.records.append)
                return TelemetryLayer(beneath, settings, clock=clock)
            case "audit":
                return AuditLayer(beneath, AuditSettings(), clock=clock)
            case "security":
                settings = SecuritySettings(signing="hmac-sha256", signing_key=b"k" * 16)
                return SecurityLayer(beneath, settings)
            case "budget":
                settings = BudgetSettings(path=self.folder / "budget", **BUDGET)
                return BudgetLayer(beneath, settings)
            case "routing":
                settings = RoutingSettings(
                    models=["routed"], rules=["capability", "window", "cost"]
                )
                return RoutingLayer(beneath, settings, beneath, self.other, lambda step: step)
            case "retry":
                settings = RetrySettings(max_retries=2)
                return RetryLayer(beneath, settings, clock=clock.seconds, sleep=sleep)
            case "fallback":
                settings = FallbackSettings(chain=["next:model"])
                return FallbackLayer(beneath, settings, self.other)
            case "rate_limit":
                settings = RateLimitSettings(requests_per_minute=1)
                return RateLimitLayer(beneath, settings, clock=clock.seconds, sleep=sleep)
            case _:
                return ToolCallLayer(beneath)

    @property
    def can_answer(self) -> bool:
        if "fallback" in self.order or self.failures == 0:
            return True
        return "retry" in self.order and self.failures <= 2

    def check_that_nothing_is_left(self) -> None:
        """No connection is open, no model of a chain is, and each call that came is recorded."""
        assert [step.open for step in self.steps] == [0] * len(self.steps)
        assert [step.closed for step in self.steps if step.name == "next"] == [
            1 for step in self.steps if step.name == "next"
        ]
        if "budget" in self.order:
            assert self.reserved() == 0
        if "audit" in self.order:
            assert len(self.audited.records) == self.counts["audit"].count
        if "telemetry" in self.order:
            assert len(self.records) == self.counts["telemetry"].count
        if "otel" in self.order:
            assert len(self.spans.get_finished_spans()) == self.counts["otel"].count

    def reserved(self) -> int:
        """How many calls of the budget are not settled."""
        connection = sqlite3.connect(self.folder / "budget")
        try:
            if not connection.execute("PRAGMA user_version").fetchone()[0]:
                return 0  # cancelled before the first use
            return connection.execute("SELECT COUNT(*) FROM reserved").fetchone()[0]
        finally:
            connection.close()


def answered(pieces: list[Piece]) -> tuple[str, LLMResponse]:
    """Return the text that was shown, and the response without what layers add to its metadata."""
    *deltas, last = pieces
    assert isinstance(last, LLMResponse)
    return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)), last.model_copy(
        update={"metadata": {}}
    )


PERSONAL_DATA = PersonalData(["SSN", "CREDIT_CARD", "EMAIL", "PHONE", "IPV4", "IBAN"])
REDACTOR = Redactor()


def has_nothing_to_hide(text: str) -> bool:
    """Whether the security layer leaves a text as it is: it takes out addresses such as 0.0.0.0."""
    return PERSONAL_DATA.redact(text) == text == REDACTOR.redact(text)


texts = st.text().filter(has_nothing_to_hide)
orders = st.lists(st.sampled_from(LAYERS), unique=True)
calls = st.builds(
    Call,
    st.lists(
        st.builds(
            Message,
            role=st.sampled_from(["user", "assistant", "system"]),
            content=texts | st.lists(st.builds(TextBlock, text=texts)),
        ),
        min_size=1,
    ),
    st.none() | st.just([Tool(name="look", description="", parameters={"type": "object"})]),
    st.dictionaries(st.sampled_from(["temperature", "max_tokens"]), st.integers(1, 9)),
)


# Holds: layer-1
@given(order=orders, failures=st.integers(0, 3), call=calls, streams=st.booleans())
async def test_any_layers_in_any_order_keep_the_answer_and_the_messages(
    order, failures, call, streams
):
    async with World.of(order, failures) as world:
        before = copy.deepcopy((call.messages, call.tools, call.options))

        pieces: list[Piece] = []
        try:
            if streams:
                await take(world.stack.stream(call), pieces)
            else:
                pieces.append(await world.stack.complete(call))
        except ArcLLMAPIError:
            assert not world.can_answer
        else:
            assert world.can_answer
            assert answered(pieces) == ("onetwothree" if streams else "", ANSWER)

        assert (call.messages, call.tools, call.options) == before
        for seen in (seen for step in world.steps for seen in step.calls):
            options = {key: seen.options[key] for key in seen.options if key != "extra_headers"}
            assert (seen.messages, seen.tools, options) == before
        world.check_that_nothing_is_left()


# Holds: layer-2
@given(
    order=orders,
    failures=st.integers(0, 2),
    streams=st.booleans(),
    cancel_at=st.integers(1, 12),
)
async def test_a_call_that_is_cancelled_at_any_await_leaves_nothing_open(
    order, failures, streams, cancel_at
):
    async with World.of(order, failures, cancel_at) as world:
        with anyio.CancelScope() as world.scope:
            try:
                if streams:
                    await take(world.stack.stream(ask()), [])
                else:
                    await world.stack.complete(ask())
            except ArcLLMAPIError:
                assert not world.can_answer

        # The closing of a model of the chain is shielded, after its answer.
        assert world.scope.cancelled_caught or not world.scope.cancel_called or "fallback" in order
        world.check_that_nothing_is_left()


# Holds: layer-3
@given(order=orders, failures=st.integers(0, 2), pieces=st.integers(0, 4))
async def test_a_consumer_that_stops_closes_the_connection_at_once(order, failures, pieces):
    async with World.of(order, failures) as world:
        stream = world.stack.stream(ask())

        try:
            for _ in range(pieces):
                await anext(stream)
        except ArcLLMAPIError:
            assert not world.can_answer
        except StopAsyncIteration:
            assert "security" in order  # which joins pieces
        await stream.aclose()

        assert [step.open for step in world.steps] == [0] * len(world.steps)
        if pieces:
            world.check_that_nothing_is_left()


async def test_the_layers_are_in_their_order():
    modules = {
        "rate_limit": {}, "retry": {}, "fallback": {"chain": ["a"]}, "telemetry": {},
        "otel": {"exporter": "none"}, "routing": {"models": ["b"]},
    }  # fmt: skip
    step: Any = build_stack(FakeStep(), modules, lambda name, model: FakeStep(name=name))

    kinds = []
    while isinstance(step, Layer):
        kinds.append(type(step))
        step = step.beneath

    assert kinds == [
        OtelLayer, TelemetryLayer, RoutingLayer, RetryLayer, FallbackLayer, RateLimitLayer,
        ToolCallLayer,
    ]  # fmt: skip


async def test_a_layer_that_is_off_is_not_there():
    stack = build_stack(FakeStep(), {}, lambda name, model: FakeStep())

    assert type(stack) is ToolCallLayer
    assert (stack.name, stack.model_name) == ("fake", "small")


async def test_a_call_through_the_whole_stack_is_one_record(caplog):
    caplog.set_level(logging.INFO, "arcllm.telemetry")
    modules = {"telemetry": {}, "retry": {"backoff_base_seconds": 1e-9}, "rate_limit": {}}
    clear_cache()
    provider = FakeStep([api_error(503), ANSWER])
    stack = build_stack(provider, modules, lambda name, model: FakeStep())

    assert await stack.complete(ask()) == ANSWER
    assert len([each for each in caplog.records if each.name == "arcllm.telemetry"]) == 1
    assert "retries=1" in caplog.text


def test_an_unknown_layer_is_refused():
    with pytest.raises(ArcLLMConfigError) as refused:
        build_stack(FakeStep(), {"retries": {}}, lambda name, model: FakeStep())

    assert refused.value.message == "`retries` is not a layer (did you mean `retry`?)"


async def test_closing_the_stack_closes_the_provider_once():
    modules = {name: {} for name in ORDER if name in ("telemetry", "retry", "rate_limit")}
    provider = FakeStep()

    await build_stack(provider, modules, lambda name, model: FakeStep()).close()

    assert provider.closed == 1
