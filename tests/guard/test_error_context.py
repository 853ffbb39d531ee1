"""A context is the same in Rust and Python, holds no secret, and is told in one short line."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from amplifier_core._engine import _round_trip_error_context
from amplifier_guard import ErrorContext, PastOperation, Redactor

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

TIMES = st.datetimes(
    timezones=st.none()
    | st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))
)
PAST = st.builds(PastOperation, operation=st.text(), timestamp=TIMES, error=st.none() | st.text())
CONTEXTS = st.builds(
    ErrorContext,
    operation=st.text(),
    timestamp=TIMES,
    message_id=st.none() | st.text(),
    tool_use_id=st.none() | st.text(),
    retry_count=st.integers(0, 2**32 - 1),
    metadata=st.dictionaries(st.text(), st.text(), max_size=5),
    history=st.lists(PAST, max_size=4),
)


# Holds: failure-3
@given(CONTEXTS)
def test_a_context_writes_the_same_json_in_rust(context: ErrorContext):
    written = context.model_dump_json()

    assert _round_trip_error_context(written.encode()) == written
    assert ErrorContext.model_validate_json(written) == context


def test_its_json_has_these_keys_in_this_order():
    context = ErrorContext(operation="tool", timestamp=NOW, metadata={"b": "2", "a": "1"})
    context.record_retry("timeout", NOW)

    assert context.model_dump_json() == (
        '{"operation":"tool","timestamp":"2026-01-02T03:04:05Z","message_id":null,'
        '"tool_use_id":null,"retry_count":1,"metadata":{"b":"2","a":"1"},'
        '"history":[{"operation":"tool","timestamp":"2026-01-02T03:04:05Z","error":"timeout"}]}'
    )


def test_both_sides_read_the_same_defaults_and_keep_the_latest_operations():
    past = {"operation": "x", "timestamp": "2026-01-02T03:04:05Z"}
    shortest = json.dumps({**past, "history": [{**past, "operation": str(n)} for n in range(50)]})

    context = ErrorContext.model_validate_json(shortest)
    assert _round_trip_error_context(shortest.encode()) == context.model_dump_json()
    assert [one.operation for one in context.history] == [str(n) for n in range(18, 50)]


def test_the_operations_gone_through_are_kept():
    context = ErrorContext(operation="0", timestamp=NOW)
    for number in range(1, 41):
        context.enter_operation(str(number), NOW)

    assert context.operation == "40"
    assert context.history == [
        PastOperation(operation=str(number), timestamp=NOW) for number in range(8, 40)
    ]


@pytest.mark.parametrize("count", [-1, 2**32])
def test_a_count_of_retries_has_32_bits(count: int):
    with pytest.raises(ValidationError, match="retry_count"):
        ErrorContext(operation="x", retry_count=count)
    with pytest.raises(ValueError, match="u32"):
        _round_trip_error_context(
            b'{"operation":"x","timestamp":"2026-01-02T03:04:05Z","retry_count":%d}' % count
        )


def test_known_secrets_are_left_out_in_any_encoding():
    redactor = Redactor(["correct horse battery"])
    context = (
        ErrorContext.builder("say correct horse battery", redact=redactor)
        .metadata("said", "correct%20horse%20battery")
        .metadata("correct horse battery", "Y29ycmVjdCBob3JzZSBiYXR0ZXJ5")
        .build()
    )

    told = context.model_dump_json() + str(context)
    assert not [part for part in ("horse", "Y29ycmVj", "battery") if part in told]
    assert len(context.metadata) == 2


def test_what_looks_like_a_secret_or_has_the_name_of_one_is_left_out_without_a_redactor():
    context = (
        ErrorContext.builder("complete", timestamp=NOW)
        .message_id("m")
        .tool_use_id("t")
        .metadata("accessToken", "hunter2")
        .metadata("model", "small")
        .build()
    )

    assert context == ErrorContext(
        operation="complete",
        timestamp=NOW,
        message_id="m",
        tool_use_id="t",
        metadata={"accessToken": "[REDACTED:token]", "model": "small"},
    )


# Holds: failure-5
@given(st.lists(st.text("abc "), min_size=6, max_size=6), st.integers(0, 5))
def test_nothing_gets_in_past_the_redactor(texts: list[str], place: int):
    texts[place] += "hunter2"
    context = (
        ErrorContext.builder(texts[0], redact=lambda _, text: text.replace("hunter2", "***"))
        .message_id(texts[1])
        .tool_use_id(texts[2])
        .metadata(texts[3], texts[4])
        .metadata("last", texts[5])
        .build()
    )

    written = context.model_dump_json()
    assert "***" in written
    assert "hunter2" not in written + str(context)


# Holds: failure-4
def test_what_was_assigned_past_the_builder_is_not_written():
    known = "plain-words-that-nobody-would-take-for-a-key"
    context = ErrorContext.builder("x", redact=Redactor([known]), timestamp=NOW).build()
    context.operation = f"asked with {known}"
    context.tool_use_id = "sk-" + "ant-api03-Q7wE9rT2yU4iO6pA8sD1fG3hJ5kL0zXcVb"
    context.metadata["accessToken"] = "hunter2hunter2"
    context.enter_operation("https://ada:hunter2hunter2@example.org", NOW)
    context.enter_operation("y", NOW)

    expected = {
        "operation": "y",
        "timestamp": NOW,
        "message_id": None,
        "tool_use_id": "[REDACTED:anthropic key]",
        "retry_count": 0,
        "metadata": {"accessToken": "[REDACTED:token]"},
        "history": [
            {"operation": "asked with [REDACTED:secret]", "timestamp": NOW, "error": None},
            {
                "operation": "https://ada:[REDACTED:password]@example.org",
                "timestamp": NOW,
                "error": None,
            },
        ],
    }
    assert context.model_dump() == expected
    assert json.loads(context.model_dump_json())["history"][0]["operation"] == (
        "asked with [REDACTED:secret]"
    )
    assert str(context) == (
        "operation `y`, tool use `[REDACTE…`, accessToken=[REDACTED:token], after"
        " `https://ada:[REDACTED:password]@example.org`, after `asked with [REDACTED:secret]`"
    )
    assert ErrorContext(**context.model_dump()) == ErrorContext.model_validate(expected)


def test_what_is_built_later_does_not_change_what_was_built():
    builder = ErrorContext.builder("x", timestamp=NOW)
    first = builder.build()
    builder.metadata("a", "1")

    assert first.metadata == {}


@given(st.text(st.characters(codec=None)), st.text(st.characters(codec=None)))
def test_any_text_can_be_told_in_one_short_line(operation: str, value: str):
    context = ErrorContext.builder(operation).metadata("x", value).build()
    context.enter_operation(operation)

    told = str(context)
    assert len(told) <= 501
    assert not {"\n", "\r", "\x1b", "\u202e", "\u2028"} & set(told)


def test_a_text_that_json_cannot_hold_is_told_all_the_same():
    context = ErrorContext(operation="\ud800", metadata={"x": "\ud800x"})

    assert str(context) == "operation `?`, x=?x"


def test_identifiers_and_values_are_cut():
    context = ErrorContext(operation="x", tool_use_id="toolu_0123", metadata={"a": "é" * 101})
    context.record_retry("server")

    assert str(context) == (
        f"operation `x`, retry 1, tool use `toolu_01…`, a={'é' * 100}…, after `x` (server)"
    )
