"""The fields with a rule of their own: both sides keep it, and write the same bytes.

Holds: field-1, field-2, field-3, field-4, field-5, field-6, field-7
Holds: field-8, field-9, field-10, field-11, field-12, field-13
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from amplifier_core._engine import _round_trip
from amplifier_core.interfaces import ApprovalRequest
from amplifier_core.message_models import (
    ImageBlock,
    ResponseFormatJsonSchema,
    TextBlock,
    UnknownBlock,
    Usage,
)
from amplifier_core.models import ConfigField, ModuleInfo, Pricing, SessionStatus, ToolResult

PNG = {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}
MOMENT = dt.datetime(2026, 1, 2, 3, 4, 5)
EAST = dt.timezone(dt.timedelta(hours=5, minutes=45))

Write = Callable[[BaseModel], str]


@pytest.fixture
def write() -> Write:
    """Writes a model as JSON and sees to it that Rust writes the same bytes."""

    def written(model: BaseModel) -> str:
        text = model.model_dump_json()
        assert _round_trip(type(model).__name__, text.encode()) == text
        return text

    return written


def usage(cost: Any) -> Usage:
    return Usage(input_tokens=1, output_tokens=2, total_tokens=3, cost_usd=cost)


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (MOMENT, "2026-01-02T03:04:05"),
        (MOMENT.replace(microsecond=60), "2026-01-02T03:04:05.000060"),
        (MOMENT.replace(tzinfo=dt.UTC), "2026-01-02T03:04:05Z"),
        (MOMENT.replace(tzinfo=EAST, microsecond=600_000), "2026-01-02T03:04:05.600000+05:45"),
        (dt.datetime.min, "0001-01-01T00:00:00"),
        (dt.datetime.max, "9999-12-31T23:59:59.999999"),
    ],
)
def test_a_time_keeps_its_zone_and_its_fraction(
    moment: dt.datetime, text: str, write: Write
) -> None:
    status = SessionStatus(session_id="s", started_at=moment, ended_at=moment, last_activity=moment)
    fields = json.loads(write(status))

    assert [fields[key] for key in ("started_at", "ended_at", "last_activity")] == [text] * 3
    assert SessionStatus.model_validate(fields) == status


@pytest.mark.parametrize(
    "text",
    ["2026-01-02", "2026-01-02 03:04:05", "2026-01-02T03:04Z", "2026-01-02T03:04:05.5", 1767323045],
)
def test_only_python_reads_a_time_in_other_forms_and_rust_names_the_right_one(
    text: str | int, write: Write
) -> None:
    fields = {"session_id": "s", "started_at": text}

    write(SessionStatus.model_validate(fields))
    with pytest.raises(ValueError, match="must be a date and time such as `2026-01-02T03:04:05Z`"):
        _round_trip("SessionStatus", json.dumps(fields).encode())


def test_a_status_starts_now_in_python_and_when_it_is_told_in_rust(write: Write) -> None:
    before = dt.datetime.now()
    status = SessionStatus(session_id="s")

    assert before <= status.started_at <= dt.datetime.now()
    write(status)
    with pytest.raises(ValueError, match=r"`SessionStatus\.started_at` is missing"):
        _round_trip("SessionStatus", b'{"session_id": "s"}')


@given(cost=st.decimals(allow_nan=False, allow_infinity=False), lead=st.sampled_from(["", "0"]))
def test_a_cost_is_written_as_the_decimal_prints_it(cost: Decimal, lead: str) -> None:
    sign, digits = ("-", str(cost)[1:]) if str(cost).startswith("-") else ("", str(cost))
    text = usage(cost).model_dump_json()
    unusual = text.replace(json.dumps(str(cost)), json.dumps(f"{sign}{lead}{digits}"))

    assert json.loads(text)["cost_usd"] == str(cost)
    assert _round_trip("Usage", unusual.encode()) == text
    assert Usage.model_validate_json(unusual).model_dump_json() == text


@pytest.mark.parametrize("cost", [3, 10**30, "1e3", "0.10", "-0", ".5", "+2", "0E-7", "1E-6", None])
def test_both_sides_read_a_cost_as_an_integer_or_a_text(cost: int | str | None) -> None:
    fields = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3, "cost_usd": cost}
    text = json.dumps(fields).encode()

    assert _round_trip("Usage", text) == usage(cost).model_dump_json()
    assert Usage.model_validate_json(text) == usage(cost)


@pytest.mark.parametrize("cost", ["0.5", "1e2", "true", '"NaN"', '"-Infinity"', '"much"', "[]"])
def test_both_sides_refuse_another_cost(cost: str) -> None:
    text = f'{{"input_tokens": 1, "output_tokens": 2, "total_tokens": 3, "cost_usd": {cost}}}'

    with pytest.raises(ValidationError):
        Usage.model_validate_json(text)
    with pytest.raises(ValueError, match=r"`Usage.cost_usd` must be a decimal number as a string"):
        _round_trip("Usage", text.encode())


def test_the_schema_of_a_format_is_called_schema_for_a_provider_only(write: Write) -> None:
    answer = ResponseFormatJsonSchema(json_schema={"type": "object"}, strict=True)

    assert write(answer) == '{"type":"json_schema","json_schema":{"type":"object"},"strict":true}'
    assert answer.model_dump_json(by_alias=True) == (
        '{"type":"json_schema","schema":{"type":"object"},"strict":true}'
    )
    by_alias = answer.model_dump_json(by_alias=True)
    with pytest.raises(ValidationError, match="json_schema"):
        ResponseFormatJsonSchema.model_validate_json(by_alias)
    with pytest.raises(ValueError, match=r"`ResponseFormatJsonSchema\.json_schema` is missing"):
        _round_trip("ResponseFormatJsonSchema", by_alias.encode())


@pytest.mark.parametrize("content", ["", ',"content":null', ',"content":[]'])
def test_both_sides_leave_empty_content_out(content: str) -> None:
    text = f'{{"success":true,"output":1,"error":null{content}}}'
    written = '{"success":true,"output":1,"error":null}'

    assert ToolResult.model_validate_json(text).model_dump_json() == written
    assert _round_trip("ToolResult", text.encode()) == written


def test_both_sides_reduce_content_to_its_own_keys(write: Write) -> None:
    image = {"type": "image", "source": PNG}
    content = [
        {"visibility": "user", "text": "a", "type": "text", "cache_control": {}},
        {**image, "source": {**PNG, "detail": "low"}, "visibility": "user"},
    ]
    text = json.dumps({"output": "x", "content": content})
    result = ToolResult(output="x", content=[TextBlock(text="a"), ImageBlock(source=PNG)])

    assert ToolResult.model_validate_json(text) == result
    assert _round_trip("ToolResult", text.encode()) == write(result)
    assert json.loads(write(result))["content"] == [{"type": "text", "text": "a"}, image]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "audio"},
        {"type": "text", "text": 1},
        {"type": "image", "source": {"type": "url", "url": "https://example.org"}},
        {"type": "image", "source": {**PNG, "media_type": "text/plain"}},
        {"type": "image", "source": {**PNG, "data": "QR=="}},
    ],
)
def test_both_sides_refuse_other_content(block: dict[str, Any]) -> None:
    text = json.dumps({"content": [block]})

    with pytest.raises(ValidationError, match="invalid tool result"):
        ToolResult.model_validate_json(text)
    with pytest.raises(ValueError, match=r"`ToolResult\.content\[0\]` must be"):
        _round_trip("ToolResult", text.encode())


@pytest.mark.parametrize(
    ("error", "output"),
    [({"message": "no"}, "no"), ({"message": [0]}, [0]), ({"message": 0}, None), ({}, None)],
)
def test_both_sides_give_a_failure_its_message_as_output(
    error: dict[str, Any], output: object
) -> None:
    text = json.dumps({"success": False, "error": error})
    written = ToolResult(success=False, error=error).model_dump_json()

    assert json.loads(written) == {"success": False, "output": output, "error": error}
    assert _round_trip("ToolResult", text.encode()) == written


def test_the_type_of_a_module_is_called_type_in_json(write: Write) -> None:
    module = ModuleInfo(
        id="m", name="M", version="1", type="tool", mount_point="tools", description="d"
    )
    text = write(module)

    assert json.loads(text)["type"] == "tool"
    with pytest.raises(ValueError, match=r"`ModuleInfo\.type` is missing"):
        _round_trip("ModuleInfo", text.replace('"type"', '"module_type"').encode())


@pytest.mark.parametrize("default", [None, "", "d"])
def test_the_default_of_a_setting_is_called_default_in_json(
    default: str | None, write: Write
) -> None:
    text = write(ConfigField(id="k", display_name="K", prompt="?", default=default))

    assert json.loads(text)["default"] == default
    renamed = text.replace('"default":', '"default_value":')
    assert json.loads(_round_trip("ConfigField", renamed.encode()))["default"] is None


@pytest.mark.parametrize("known", ["text", "thinking", "tool_call", "image", "reasoning"])
def test_both_sides_refuse_a_known_type_as_an_unknown_one(known: str, write: Write) -> None:
    write(UnknownBlock.model_validate({"type": f"{known}2", "x": 2**70}))
    with pytest.raises(ValidationError, match="is a known block type"):
        UnknownBlock(type=known)
    with pytest.raises(
        ValueError, match=r"`UnknownBlock\.type` must be a type that has no variant"
    ):
        _round_trip("UnknownBlock", json.dumps({"type": known}).encode())


@given(currency=st.text(max_size=4) | st.from_regex(r"[A-Za-z]{3}", fullmatch=True))
def test_both_sides_take_the_same_currencies(currency: str) -> None:
    fields = {"input_per_million": 1.0, "output_per_million": 2.0, "currency": currency}
    text = json.dumps(fields, ensure_ascii=False)

    try:
        pricing = Pricing.model_validate_json(text)
    except ValidationError:
        with pytest.raises(ValueError, match=r"must be three capital letters of ISO 4217"):
            _round_trip("Pricing", text.encode())
    else:
        assert _round_trip("Pricing", text.encode()) == pricing.model_dump_json()


@given(timeout=st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.just(0.0))
def test_both_sides_take_the_same_timeouts_of_an_approval(timeout: float | None) -> None:
    fields = {"tool_name": "rm", "action": "delete", "risk_level": "high", "timeout": timeout}
    text = json.dumps(fields).encode()

    try:
        request = ApprovalRequest.model_validate_json(text)
    except ValidationError:
        with pytest.raises(ValueError, match="must be a positive number or null"):
            _round_trip("ApprovalRequest", text)
    else:
        assert _round_trip("ApprovalRequest", text) == request.model_dump_json()
