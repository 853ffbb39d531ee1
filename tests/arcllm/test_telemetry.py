"""Telemetry: one record for each call, however it ends."""

from __future__ import annotations

import logging

import anyio
import pytest
from fake_step import Clock, FakeStep, api_error, ask, response

from arcllm import ArcLLMAPIError, ArcLLMConfigError, Usage
from arcllm.layers.stack import build_stack
from arcllm.layers.telemetry import TelemetryLayer, TelemetrySettings

USAGE = Usage(input_tokens=10, output_tokens=5, total_tokens=15, cache_read_tokens=4)
ANSWER = response(usage=USAGE, metadata={"cost_usd": 0.25, "request_id": "req_1"})
COUNTS = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15, "cache_read_tokens": 4}


def recorded(step: FakeStep, clock: Clock) -> tuple[TelemetryLayer, list[dict]]:
    records = []
    settings = TelemetrySettings(callback=records.append)
    return TelemetryLayer(step, settings, clock=clock), records


def taking(clock: Clock, answer, seconds: float):
    """Answer after some time."""

    def answered(call):
        del call
        clock.now += round(seconds * 1e9)
        return answer.model_copy(deep=True)

    return answered


async def test_a_call_is_one_record():
    clock = Clock()
    layer, records = recorded(FakeStep([taking(clock, ANSWER, 1.5)]), clock)

    assert await layer.complete(ask()) == ANSWER
    assert records == [
        {
            "provider": "fake", "model": "small", "outcome": "ok", "duration_seconds": 1.5,
            **COUNTS, "stop_reason": "end_turn", "tool_calls": 0, "cost_usd": 0.25,
            "request_id": "req_1",
        }
    ]  # fmt: skip


async def test_a_stream_has_the_time_to_its_first_piece():
    clock = Clock()
    layer, records = recorded(FakeStep([taking(clock, ANSWER, 0.5)]), clock)

    async for _ in layer.stream(ask()):
        clock.now += 10**9

    # The consumer takes a second for each piece; what it does with the response is not the call's.
    assert records[0]["first_token_seconds"] == 0.5
    assert records[0]["duration_seconds"] == 1.5
    assert len(records) == 1


# Holds: layer-24
async def test_a_failure_is_recorded_without_what_was_said():
    layer, records = recorded(FakeStep([api_error(529)]), Clock())

    with pytest.raises(ArcLLMAPIError):
        await layer.complete(ask())

    about = {"provider": "fake", "model": "small", "outcome": "ArcLLMAPIError"}
    assert records == [{**about, "duration_seconds": 0.0, "status_code": 529}]


async def test_a_cancelled_call_is_recorded():
    layer, records = recorded(FakeStep(), Clock())

    with anyio.CancelScope() as scope:
        scope.cancel()
        await layer.complete(ask())

    assert [record["outcome"] for record in records] == ["cancelled"]


async def test_a_stream_that_is_left_early_is_recorded_as_stopped():
    layer, records = recorded(FakeStep([response("a b")]), Clock())
    pieces = layer.stream(ask())

    await anext(pieces)
    await pieces.aclose()

    assert [record["outcome"] for record in records] == ["stopped"]


async def test_a_stream_that_is_left_at_its_response_is_recorded_as_whole():
    layer, records = recorded(FakeStep([response("a")]), Clock())
    pieces = layer.stream(ask())

    await anext(pieces)
    assert await anext(pieces) == response("a")
    await pieces.aclose()

    assert [record["outcome"] for record in records] == ["ok"]


async def test_the_log_has_one_line_of_keys_and_values(caplog):
    caplog.set_level("INFO", "arcllm.telemetry")
    odd = response(model='odd "model"\nname', metadata={"cost_usd": 0.00001})
    layer = TelemetryLayer(FakeStep([odd]), TelemetrySettings(), clock=Clock())

    await layer.complete(ask("a secret"))

    line = (
        'provider=fake model="odd \\"model\\"\\nname" outcome=ok duration_seconds=0'
        " input_tokens=10 output_tokens=5 total_tokens=15 stop_reason=end_turn tool_calls=0"
        " cost_usd=1e-05"
    )
    assert [record.getMessage() for record in caplog.records] == [line]
    assert caplog.records[0].arcllm["model"] == odd.model


@pytest.mark.parametrize("level", ["DEBUG", "WARNING"])
async def test_the_level_is_that_of_the_settings(caplog, level):
    caplog.set_level("DEBUG", "arcllm.telemetry")
    settings = TelemetrySettings(log_level=level)

    await TelemetryLayer(FakeStep(), settings).complete(ask())

    assert [record.levelno for record in caplog.records] == [getattr(logging, level)]


async def test_a_callback_that_fails_takes_nobody_the_answer(caplog):
    layer = TelemetryLayer(FakeStep(), TelemetrySettings(callback=lambda values: 1 / 0))

    assert await layer.complete(ask()) == response()
    assert "the callback of `telemetry` failed" in caplog.text


async def test_who_answered_instead_is_recorded():
    records = []
    modules = {"telemetry": {"callback": records.append}, "fallback": {"chain": ["other:big"]}}
    other = FakeStep([response(model="big-1")], name="other")
    stack = build_stack(FakeStep([api_error()]), modules, lambda name, model: other)

    await stack.complete(ask())

    assert (records[0]["provider"], records[0]["model"]) == ("other", "big-1")
    assert records[0]["fallback"] == "other:big"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"log_level": "LOUD"}, "telemetry: `log_level` is 'LOUD' (must be `DEBUG`, `INFO`, "),
        ({"loglevel": "INFO"}, "telemetry: `loglevel` is unknown (did you mean `log_level`?)"),
        ({"callback": 3}, "telemetry: `callback` is"),
    ],
)
def test_a_wrong_setting_is_refused(settings, message):
    with pytest.raises(ArcLLMConfigError) as refused:
        build_stack(FakeStep(), {"telemetry": settings}, lambda name, model: FakeStep())

    assert refused.value.message.startswith(message)
