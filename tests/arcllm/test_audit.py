"""The record of each call: metadata unless more is asked for, one line, no secret."""

from __future__ import annotations

import json
import logging
from typing import Any

import anyio
import pytest
from fake_step import FakeStep, api_error, ask, response, take

from arcllm import ArcLLMAPIError, ToolCall
from arcllm.layers.audit import AuditLayer, AuditSettings
from arcllm.step import Call, Piece

KEY = "sk-ant-api03-" + "a1B2c3D4" * 10


def layer(beneath: FakeStep, **settings: Any) -> AuditLayer:
    times = iter(range(0, 10**12, 250_000_000))
    return AuditLayer(
        beneath, AuditSettings(**settings), clock=lambda: next(times), now=lambda: 1_790_000_000.0
    )


# Holds: layer-21
async def test_a_record_has_metadata_alone(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "arcllm.audit")
    answer = response("the answer", tool_calls=[ToolCall(id="1", name="look", arguments={"a": 1})])

    await layer(FakeStep([answer])).complete(ask("the question"))

    assert caplog.messages == [
        (
            "time=2026-09-21T14:13:20.000+00:00 provider=fake model=small outcome=ok"
            " duration_seconds=0.25 input_tokens=10 output_tokens=5 total_tokens=15"
            ' stop_reason=end_turn tool_calls=1 stream=false messages=1 tools=0 called="[\\"look\\"]"'
        )
    ]


async def test_a_stream_leaves_one_record_that_has_its_first_piece(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "arcllm.audit")
    pieces: list[Piece] = []

    await take(layer(FakeStep([response("a b")]), format="json").stream(ask()), pieces)

    (record,) = [json.loads(message) for message in caplog.messages]
    assert record["outcome"] == "ok"
    assert record["stream"] is True
    assert record["first_token_seconds"] == 0.25


async def test_what_was_said_is_a_record_of_its_own_at_debug(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "arcllm.audit")
    audit = layer(FakeStep(), format="json", include_messages=True, include_response=True)

    await audit.complete(ask("the question"))

    assert [record.levelname for record in caplog.records] == ["INFO", "DEBUG"]
    assert json.loads(caplog.messages[1]) == {
        "request_id": None,
        "outcome": "ok",
        "messages": [{"role": "user", "content": "the question"}],
        "response": {
            "content": "Hello",
            "thinking": None,
            "tool_calls": [],
            "stop_reason": "end_turn",
        },
    }


async def test_what_was_said_is_not_written_above_debug(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "arcllm.audit")

    await layer(FakeStep(), include_messages=True, include_response=True).complete(ask("secret"))

    assert len(caplog.messages) == 1
    assert "secret" not in caplog.text


async def test_control_characters_are_escaped(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "arcllm.audit")
    text = 'a\nb\x1b[31m\x7f\u2028\u202e\x85 "é'

    for form in ("json", "key_value"):
        await layer(FakeStep(), format=form, include_messages=True).complete(ask(text))

    assert all(message.isprintable() for message in caplog.messages)
    assert json.loads(caplog.messages[1])["messages"][0]["content"] == text


async def test_no_record_has_a_secret(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "arcllm.audit")
    settings: dict[str, Any] = {"secrets": ["tangerine-42"]}
    audit = layer(
        FakeStep([response(f"key {KEY}")]), include_messages=True, include_response=True, **settings
    )

    await audit.complete(ask(f"use {KEY} and tangerine-42"))

    shown = caplog.text + str([vars(record)["arcllm"] for record in caplog.records])
    assert KEY not in shown
    assert "tangerine" not in shown
    assert "tangerine" not in repr(AuditSettings(**settings))


async def test_a_call_that_failed_is_recorded(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "arcllm.audit")

    with pytest.raises(ArcLLMAPIError):
        await layer(FakeStep([api_error(503)])).complete(ask())

    assert "outcome=ArcLLMAPIError" in caplog.messages[0]
    assert "status_code=503" in caplog.messages[0]


@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_call_that_was_cancelled_is_recorded(
    caplog: pytest.LogCaptureFixture, is_stream: bool
) -> None:
    caplog.set_level(logging.INFO, "arcllm.audit")
    beneath = FakeStep(pause=anyio.sleep_forever)
    audit, call = layer(beneath), ask()

    async with anyio.create_task_group() as group:

        async def run(call: Call) -> None:
            await (take(audit.stream(call), []) if is_stream else audit.complete(call))

        group.start_soon(run, call)
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()

    assert "outcome=cancelled" in caplog.messages[0]
    assert beneath.open == 0


async def test_a_stream_that_is_left_is_recorded(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "arcllm.audit")
    pieces = layer(FakeStep([response("a b c")])).stream(ask())

    await anext(pieces)
    await pieces.aclose()

    assert "outcome=stopped" in caplog.messages[0]
