"""What the models do beyond holding fields."""

from __future__ import annotations

import json
import pickle
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from amplifier_core.message_models import (
    ChatRequest,
    ChatResponse,
    ImageBlock,
    Message,
    ResponseFormatJson,
    ResponseFormatJsonSchema,
    TextBlock,
    ToolCall,
    ToolResultBlock,
    UnknownBlock,
    Usage,
)
from amplifier_core.models import (
    ContextInjection,
    HookResult,
    ModelInfo,
    Pricing,
    ProviderResponse,
    SessionStatus,
    ToolResult,
)
from amplifier_core.models import ToolCall as OlderToolCall

PNG = {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}
NOTE = {
    "type": "text",
    "text": "[Image omitted from tool event; original retained for model request if unmodified.]",
}


class Seen(ToolResult):
    seen: bool = False


def test_a_failure_without_output_takes_its_message() -> None:
    failure = ToolResult(success=False, error={"message": "no such file"})

    assert failure == ToolResult(
        success=False, output="no such file", error={"message": "no such file"}
    )
    assert ToolResult(success=False, error={"message": ""}).output is None
    assert ToolResult(success=False, error={"code": 1}).output is None
    assert ToolResult(success=False, output="mine", error={"message": "x"}).output == "mine"


@pytest.mark.parametrize(
    ("result", "short", "serialized"),
    [
        (ToolResult(), "Success", "Success"),
        (ToolResult(output=0), "Success", "0"),
        (ToolResult(output=""), "Success", ""),
        (ToolResult(output="é\x00\x1b[1m\ud800\t\n"), "é\x00\x1b[1m\ud800\t\n", "é[1m\t\n"),
        (ToolResult(output=(1, 2)), "(1, 2)", "(1, 2)"),
        (
            ToolResult(output={"a": [1, 2], "é": 1.0, "d": [Decimal("1.10")]}),
            "{'a': [1, 2], 'é': 1.0, 'd': [Decimal('1.10')]}",
            '{"a": [1, 2], "\\u00e9": 1.0, "d": ["1.10"]}',
        ),
        (ToolResult(success=False), "Failed", "Error: Failed"),
        (ToolResult(success=False, error={}), "Failed", "Error: Failed"),
        (ToolResult(success=False, error={"a": 1}), "Error: Unknown error", "Error: Unknown error"),
        (ToolResult(success=False, error={"message": "no\x00"}), "Error: no\x00", "no"),
    ],
)
def test_a_tool_result_as_text(result: ToolResult, short: str, serialized: str) -> None:
    assert (str(result), result.get_serialized_output()) == (short, serialized)


@pytest.mark.parametrize("value", [object(), TextBlock(text="x"), {1}, datetime.now()])
def test_serialized_output_does_not_guess_at_other_types(value: Any) -> None:
    name = type(value).__name__
    with pytest.raises(TypeError, match=f"Object of type {name} is not JSON serializable"):
        ToolResult(output=[value]).get_serialized_output()


# Holds: differ-7
def test_content_is_reduced_to_what_a_tool_result_may_hold() -> None:
    content: list[Any] = [
        TextBlock(text="a", visibility="user"),
        {"type": "text", "text": "b\x00", "cache_control": {}},
        {"type": "image", "source": {**PNG, "extra": 1}, "visibility": "user"},
    ]
    result = ToolResult(output="x", content=content)

    assert result.content == [
        TextBlock(text="a"),
        TextBlock(text="b\x00"),
        ImageBlock(source=PNG),
    ]
    assert result.model_dump() == {
        "success": True,
        "output": "x",
        "error": None,
        "content": [
            {"type": "text", "text": "a"},
            {"type": "text", "text": "b\x00"},
            {"type": "image", "source": PNG},
        ],
    }


@pytest.mark.parametrize("content", [None, [], ()])
def test_empty_content_is_left_out_of_dumps_also_nested(content: Any) -> None:
    class Holder(BaseModel):
        result: ToolResult

    result = ToolResult(content=content)

    assert result.content is None
    assert result.model_dump() == {"success": True, "output": None, "error": None}
    assert result.model_dump_json() == '{"success":true,"output":null,"error":null}'
    assert Holder(result=result).model_dump_json() == (
        '{"result":{"success":true,"output":null,"error":null}}'
    )
    assert result.model_dump(include={"success"}) == {"success": True}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("text", "invalid tool result content"),
        ({}, "invalid tool result content"),
        (False, "invalid tool result content"),
        (["text"], "invalid tool result content"),
        ([{"type": "text"}], "invalid tool result content"),
        ([{"type": "text", "text": 1}], "invalid tool result content"),
        ([{"type": "audio"}], "invalid tool result content"),
        ([{"type": "image"}], "invalid tool result image source"),
        ([{"type": "image", "source": {"type": "url"}}], "invalid tool result image source"),
        *(
            ([{"type": "image", "source": {**PNG, "media_type": media_type}}], "image media type")
            for media_type in [None, "", "image/", "IMAGE/png", "image/png; x", "text/plain"]
        ),
        *(
            ([{"type": "image", "source": {**PNG, "data": data}}], "image data")
            for data in [
                None,
                "",
                "Q",
                "QQ",
                "QR==",
                "QQ==\n",
                "Q Q=",
                "data:image/png;base64,QQ==",
                "é",
            ]
        ),
    ],
)
def test_other_content_is_refused(content: Any, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        ToolResult(content=content)
    result = ToolResult()
    with pytest.raises(ValidationError, match=message):
        result.content = content
    with pytest.raises(ValidationError, match=message):
        result.model_copy(update={"content": content})
    assert result.content is None


def test_content_is_checked_again_on_the_way_out() -> None:
    result = ToolResult(content=[TextBlock(text="a")])
    assert result.content is not None
    result.content.append({"type": "audio"})  # type: ignore[arg-type]  # what a careless tool does

    with pytest.raises(ValueError, match="invalid tool result content"):
        result.model_dump()


def test_a_validation_error_does_not_show_what_a_tool_read() -> None:
    with pytest.raises(ValidationError) as caught:
        ToolResult(success="s3cret")  # type: ignore[arg-type]  # the point
    assert "s3cret" not in str(caught.value)


def test_a_copy_is_validated_and_keeps_its_class() -> None:
    output = {"a": [1]}
    result = Seen(output=output, seen=True)

    copy = result.model_copy(update={"success": False, "error": {"message": "m"}, "other": 1})

    assert copy == Seen(success=False, output=output, error={"message": "m"}, seen=True)
    assert copy.output is output
    assert result.model_copy(deep=True).output is not output
    with pytest.raises(ValidationError):
        result.model_copy(update={"success": "perhaps"})


# Holds: differ-5
def test_hooks_do_not_see_image_data_anywhere() -> None:
    image = {"type": "image", "source": PNG}
    result = ToolResult(
        output={"shots": [image, "x"]}, content=[TextBlock(text="a"), ImageBlock(source=PNG)]
    )

    assert result.safe_hook_presentation() == {
        "success": True,
        "output": {"shots": [NOTE, "x"]},
        "error": None,
        "content": [{"type": "text", "text": "a"}, NOTE],
    }
    assert ToolResult().safe_hook_presentation() == {"success": True, "output": None, "error": None}


def test_names_that_applications_test_for_are_absent() -> None:
    assert not hasattr(ToolResult, "to_dict")
    for name in ("text", "output_text", "content_blocks", "web_search_results"):
        assert not hasattr(ChatResponse(content=[]), name)


@pytest.mark.parametrize("cost", [1, "0.10", Decimal("1E-9"), None, "-0"])
def test_costs_are_exact_and_written_as_text(cost: Any) -> None:
    usage = Usage(input_tokens=1, output_tokens=2, total_tokens=3, cost_usd=cost)
    text = None if cost is None else str(Decimal(cost))

    assert usage.model_dump()["cost_usd"] == text
    assert usage.model_dump(mode="json") == usage.model_dump()
    assert Usage.model_validate(usage.model_dump()) == usage
    assert Usage.model_validate_json(usage.model_dump_json()) == usage


@pytest.mark.parametrize("cost", [0.5, float("nan"), "NaN", "Infinity", "much", True, []])
def test_other_costs_are_refused(cost: Any) -> None:
    with pytest.raises(ValidationError):
        Usage(input_tokens=1, output_tokens=2, total_tokens=3, cost_usd=cost)


def test_a_float_cost_is_told_what_to_be() -> None:
    with pytest.raises(ValidationError, match="must be Decimal"):
        SessionStatus(session_id="s", cost_usd=0.5)  # type: ignore[arg-type]  # the point
    schema = Usage.model_json_schema()["properties"]["cost_usd"]
    assert {"type": "string"} in [{"type": one.get("type")} for one in schema["anyOf"]]


@pytest.mark.parametrize("currency", ["usd", "US", "USDT", "ÄÖÜ", "U D", ""])
def test_a_currency_has_three_capital_letters(currency: str) -> None:
    with pytest.raises(ValidationError, match="currency must be a 3-letter ISO 4217 code"):
        Pricing(input_per_million=1, output_per_million=2, currency=currency)


# Holds: json-2, differ-6
@pytest.mark.parametrize("number", [float("inf"), float("nan")])
def test_typed_floats_are_finite_and_integers_have_64_bits(number: float) -> None:
    with pytest.raises(ValidationError):
        HookResult(approval_timeout=number)
    with pytest.raises(ValidationError):
        ModelInfo(id="m", display_name="M", context_window=2**63, max_output_tokens=1)


def test_a_session_status_as_a_dict_leaves_out_what_is_not_known() -> None:
    status = SessionStatus(session_id="s", started_at=datetime(2026, 1, 2, 3, 4, 5), cost_usd=1)

    assert status.to_dict() == {
        "session_id": "s",
        "started_at": "2026-01-02T03:04:05",
        "status": "running",
        "total_messages": 0,
        "tool_invocations": 0,
        "tool_successes": 0,
        "tool_failures": 0,
        "total_input_tokens": 0,
        "total_output_tokens": 0,
        "cost_usd": "1",
    }
    assert SessionStatus(session_id="s").started_at.tzinfo is None


# Holds: differ-4
def test_a_tool_call_answers_like_a_dict() -> None:
    call = ToolCall.model_validate({"id": "1", "name": "ls", "arguments": {}, "tool": "ls"})

    assert [call.get("arguments", 1), call.get("tool"), call.get("x"), call.get("x", 2)] == [
        {},
        "ls",
        None,
        2,
    ]


def test_unknown_keys_are_kept_or_dropped_as_the_contract_says() -> None:
    message = Message.model_validate(
        {"role": "tool", "content": "x", "tool_calls": [{"id": "1", "tool": "ls"}]}
    )
    assert message.tool_calls == [{"id": "1", "tool": "ls"}]  # type: ignore[attr-defined]  # extra
    assert HookResult.model_validate({"unheard": 1}) == HookResult()


def test_messages_need_content_of_a_known_form() -> None:
    for content in (None, 1, [None], [{"text": "x"}], [{"type": "text"}], [{"type": 1}]):
        with pytest.raises(ValidationError):
            Message(role="user", content=content)  # type: ignore[arg-type]  # the point
    with pytest.raises(ValidationError):
        Message(role="boss", content="x")  # type: ignore[arg-type]  # the point


def test_blocks_find_their_models() -> None:
    response = ChatResponse.model_validate(
        {
            "content": [
                {"type": "text", "text": "a"},
                {"type": "tool_result", "tool_call_id": "1", "output": None},
                {"type": "video", "url": "x"},
            ]
        }
    )

    assert response.content == [
        TextBlock(text="a"),
        ToolResultBlock(tool_call_id="1", output=None),
        UnknownBlock.model_validate({"type": "video", "url": "x"}),
    ]


def test_response_formats_are_told_apart_by_type() -> None:
    request = ChatRequest.model_validate({"messages": [], "response_format": {"type": "json"}})
    assert request.response_format == ResponseFormatJson()

    schema = ResponseFormatJsonSchema(json_schema={"type": "object"})
    assert schema.model_dump()["json_schema"] == {"type": "object"}
    assert schema.model_dump(by_alias=True)["schema"] == {"type": "object"}
    with pytest.raises(ValidationError):
        ResponseFormatJsonSchema.model_validate({"schema": {}})


# Holds: differ-3
def test_the_older_response_holds_anything_as_blocks() -> None:
    call = OlderToolCall(tool="ls", arguments={}, id="1")
    response = ProviderResponse(content="x", tool_calls=[call], content_blocks=[object()])

    assert response.tool_calls == [call]
    assert ProviderResponse(content="x").content_blocks is None
    fields = ProviderResponse.model_fields.items()
    assert {name: field.description for name, field in fields} == {
        "content": "Response text content",
        "raw": "Raw provider response object",
        "usage": "Token usage statistics",
        "tool_calls": "Parsed tool calls from response",
        "content_blocks": (
            "Structured content blocks (TextContent, ThinkingContent, ToolCallContent, etc.)"
        ),
    }


@pytest.mark.parametrize(
    "value",
    [
        HookResult(context_injections=[ContextInjection(content="x")]),
        Seen(output=1, seen=True, content=[TextBlock(text="a")]),
        Message.model_validate({"role": "user", "content": [{"type": "x", "y": 1}], "z": 2}),
        Usage(input_tokens=1, output_tokens=2, total_tokens=3, cost_usd=Decimal("0.1")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_models_can_be_pickled(value: BaseModel) -> None:
    assert pickle.loads(pickle.dumps(value)) == value


def test_models_can_be_given_new_fields() -> None:
    class Rich(ChatResponse):
        text: str | None = None

    rich = Rich(content=[], text="x")
    assert json.loads(rich.model_dump_json())["text"] == "x"
    assert rich.model_copy(update={"usage": "unchecked"}).usage == "unchecked"
