"""The types of a call: what they hold, what they refuse, and that JSON keeps all of it."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given
from pydantic import TypeAdapter, ValidationError
from strategies import BLOCKS, MESSAGES

import arcllm
from arcllm import (
    ArcLLMAPIError,
    ArcLLMConfigError,
    ArcLLMError,
    ArcLLMParseError,
    ContentBlock,
    ImageBlock,
    LLMProvider,
    LLMResponse,
    Message,
    TextBlock,
    Tool,
    ToolCall,
    ToolResultBlock,
    ToolUseBlock,
    Usage,
)

ANY_BLOCK: TypeAdapter[Any] = TypeAdapter(ContentBlock)
USAGE = Usage(input_tokens=1, output_tokens=2, total_tokens=3)


# The seed's twelve.


def test_a_text_block() -> None:
    assert TextBlock(text="hello").model_dump() == {"type": "text", "text": "hello"}


def test_an_image_block() -> None:
    image = ImageBlock(source="iVBORw0KGgo=", media_type="image/png")
    assert image.model_dump() == {
        "type": "image", "source": "iVBORw0KGgo=", "media_type": "image/png",
    }  # fmt: skip


def test_a_tool_use_block() -> None:
    call = ToolUseBlock(id="t1", name="look", arguments={"at": "a.py"})
    assert call.model_dump() == {
        "type": "tool_use", "id": "t1", "name": "look", "arguments": {"at": "a.py"},
    }  # fmt: skip


def test_a_tool_result_block_holds_a_text_or_blocks() -> None:
    assert ToolResultBlock(tool_use_id="t1", content="sunny").model_dump() == {
        "type": "tool_result", "tool_use_id": "t1", "content": "sunny",
    }  # fmt: skip
    nested = ToolResultBlock(tool_use_id="t1", content=[TextBlock(text="sunny")])
    assert nested.content == [TextBlock(text="sunny")]


def test_the_type_says_which_block_it_is() -> None:
    plain = [
        {"type": "text", "text": "a"},
        {"type": "image", "source": "YQ==", "media_type": "image/png"},
        {"type": "tool_use", "id": "1", "name": "n", "arguments": {}},
        {"type": "tool_result", "tool_use_id": "1", "content": "b"},
    ]
    found = [type(ANY_BLOCK.validate_python(each)) for each in plain]
    assert found == [TextBlock, ImageBlock, ToolUseBlock, ToolResultBlock]


# Holds: arcllm-1
@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "video", "source": "a"},
        {"text": "no type"},
        {"type": "text"},
        {"type": "text", "text": 5},
        {"type": "tool_use", "id": "1", "name": "n", "arguments": "{}"},
        {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "audio"}]},
        {"type": "tool_result", "tool_use_id": "1", "content": None},
        "text",
        None,
    ],
)
def test_a_wrong_block_is_refused(wrong: Any) -> None:
    with pytest.raises(ValidationError):
        ANY_BLOCK.validate_python(wrong)


@pytest.mark.parametrize("role", ["system", "user", "assistant", "tool"])
def test_a_message_of_each_role(role: Any) -> None:
    assert Message(role=role, content="hi").model_dump() == {"role": role, "content": "hi"}


def test_a_message_of_blocks() -> None:
    message = Message.model_validate({"role": "user", "content": [{"type": "text", "text": "hi"}]})
    assert message == Message(role="user", content=[TextBlock(text="hi")])


@pytest.mark.parametrize("role", ["developer", "function", "", None, "User"])
def test_a_message_of_another_role_is_refused(role: Any) -> None:
    with pytest.raises(ValidationError):
        Message(role=role, content="hi")


def test_a_tool_and_a_call_of_it() -> None:
    schema = {"type": "object", "properties": {"at": {"type": "string"}}}
    tool = Tool(name="look", description="Looks.", parameters=schema)
    assert tool.model_dump() == {"name": "look", "description": "Looks.", "parameters": schema}
    call = ToolCall(id="t1", name="look", arguments={"at": "a"})
    assert call.model_dump() == {"id": "t1", "name": "look", "arguments": {"at": "a"}}


def test_usage_needs_three_counts_and_knows_three_more() -> None:
    assert USAGE.model_dump() == {
        "input_tokens": 1, "output_tokens": 2, "total_tokens": 3,
        "cache_read_tokens": None, "cache_write_tokens": None, "reasoning_tokens": None,
    }  # fmt: skip
    for missing in ("input_tokens", "output_tokens", "total_tokens"):
        counts = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
        del counts[missing]
        with pytest.raises(ValidationError, match=missing):
            Usage.model_validate(counts)


def test_a_response_and_its_defaults() -> None:
    response = LLMResponse(usage=USAGE, model="m", stop_reason="end_turn")
    assert (response.content, response.tool_calls, response.thinking, response.raw) == (
        None, [], None, None,
    )  # fmt: skip
    for missing in ("usage", "model", "stop_reason"):
        fields: dict[str, Any] = {"usage": USAGE, "model": "m", "stop_reason": "end_turn"}
        del fields[missing]
        with pytest.raises(ValidationError, match=missing):
            LLMResponse(**fields)


# The edge cases of the seed, and what else a type promises.


# Holds: arcllm-1
@pytest.mark.parametrize(
    ("model", "fields"),
    [
        (TextBlock, {"type": False, "text": True}),
        (ImageBlock, {"type": False, "source": True, "media_type": True}),
        (ToolUseBlock, {"type": False, "id": True, "name": True, "arguments": True}),
        (ToolResultBlock, {"type": False, "tool_use_id": True, "content": True}),
        (Message, {"role": True, "content": True, "opaque": False}),
        (Tool, {"name": True, "description": True, "parameters": True}),
        (ToolCall, {"id": True, "name": True, "arguments": True}),
        (
            Usage,
            {
                "input_tokens": True, "output_tokens": True, "total_tokens": True,
                "cache_read_tokens": False, "cache_write_tokens": False, "reasoning_tokens": False,
            },
        ),
        (
            LLMResponse,
            {
                "content": False, "tool_calls": False, "usage": True, "model": True,
                "stop_reason": True, "thinking": False, "raw": False, "metadata": False,
                "opaque": False,
            },
        ),
    ],
)  # fmt: skip
def test_each_type_has_these_fields_of_which_these_are_required(
    model: Any, fields: dict[str, bool]
) -> None:
    found = {name: field.is_required() for name, field in model.model_fields.items()}
    assert found == fields


def test_a_result_may_hold_a_call_and_results_in_results() -> None:
    inner = ToolResultBlock(tool_use_id="2", content=[ToolUseBlock(id="3", name="n", arguments={})])
    outer = ToolResultBlock(tool_use_id="1", content=[inner])
    assert ANY_BLOCK.validate_json(outer.model_dump_json()) == outer


def test_a_message_may_be_empty() -> None:
    assert Message(role="user", content=[]).content == []


def test_a_response_may_have_text_and_calls() -> None:
    call = ToolCall(id="1", name="n", arguments={})
    response = LLMResponse(
        content="Let me look.", tool_calls=[call], usage=USAGE, model="m", stop_reason="tool_use"
    )
    assert (response.content, response.tool_calls) == ("Let me look.", [call])


def test_usage_may_be_nothing() -> None:
    usage = Usage(input_tokens=0, output_tokens=0, total_tokens=0)
    assert usage.total_tokens == 0


@pytest.mark.parametrize("reason", ["end_turn", "refusal", "pause_turn", "whatever comes"])
def test_any_stop_reason_is_a_text(reason: str) -> None:
    assert LLMResponse(usage=USAGE, model="m", stop_reason=reason).stop_reason == reason


def test_raw_is_in_no_dump_and_in_no_repr() -> None:
    response = LLMResponse(usage=USAGE, model="m", stop_reason="end_turn", raw=object())
    assert "raw" not in response.model_dump()
    assert "raw" not in response.model_dump_json()
    assert "raw=" not in repr(response)


def test_opaque_data_is_in_a_dump_only_where_there_is_any() -> None:
    entries = [{"type": "hidden", "block": {"type": "thinking", "thinking": "Hm"}}]
    with_it = Message(role="assistant", content="hi", opaque=entries)
    assert with_it.model_dump() == {"role": "assistant", "content": "hi", "opaque": entries}
    assert Message.model_validate_json(with_it.model_dump_json()) == with_it
    assert "Hm" not in repr(with_it)


def test_responses_share_no_list() -> None:
    one, other = (LLMResponse(usage=USAGE, model="m", stop_reason="x") for _ in range(2))
    one.tool_calls.append(ToolCall(id="1", name="n", arguments={}))
    one.metadata["a"] = 1
    assert (other.tool_calls, other.metadata) == ([], {})


# Holds: arcllm-2
@given(BLOCKS)
def test_json_keeps_every_block(block: Any) -> None:
    assert ANY_BLOCK.validate_json(ANY_BLOCK.dump_json(block)) == block
    assert ANY_BLOCK.validate_python(ANY_BLOCK.dump_python(block)) == block


# Holds: arcllm-2
@given(MESSAGES)
def test_json_keeps_every_message(message: Message) -> None:
    assert Message.model_validate_json(message.model_dump_json()) == message


def test_a_provider_needs_both_methods() -> None:
    class Half(LLMProvider):
        name = "half"

        def validate_config(self) -> bool:
            return True

    with pytest.raises(TypeError, match="complete"):
        Half()  # pyright: ignore[reportAbstractUsage] -- that is the claim
    with pytest.raises(TypeError):
        LLMProvider()  # pyright: ignore[reportAbstractUsage] -- that is the claim


async def test_a_provider_answers() -> None:
    class Whole(LLMProvider):
        name = "whole"

        async def complete(
            self, messages: list[Message], tools: list[Tool] | None = None, **kwargs: Any
        ) -> LLMResponse:
            said = messages[-1].content
            return LLMResponse(content=str(said), usage=USAGE, model="m", stop_reason="end_turn")

        def validate_config(self) -> bool:
            return True

    answer = await Whole().complete([Message(role="user", content="hi")])
    assert (answer.content, Whole().validate_config(), Whole.name) == ("hi", True, "whole")


def test_the_annotations_of_the_types_are_evaluated() -> None:
    assert ToolCall.__annotations__["id"] is str


# The exceptions.


def test_every_error_is_an_arcllm_error() -> None:
    errors = [
        ArcLLMParseError(raw_string="{", original_error=ValueError("no end")),
        ArcLLMConfigError("unknown provider `x`"),
        ArcLLMAPIError(429, "slow down", "anthropic", 2.5),
    ]
    assert all(isinstance(error, ArcLLMError) for error in errors)
    assert issubclass(ArcLLMError, Exception)


def test_a_parse_error_has_what_it_could_not_read() -> None:
    cause = ValueError("no end")
    error = ArcLLMParseError(raw_string='{"a": ', original_error=cause)
    assert (error.raw_string, error.original_error, error.response) == ('{"a": ', cause, None)
    assert str(error) == "cannot read '{\"a\": ': no end"
    assert "…" in str(ArcLLMParseError("x" * 1_000, cause))


def test_a_config_error_has_its_message() -> None:
    error = ArcLLMConfigError("unknown provider `x`")
    assert (error.message, str(error)) == ("unknown provider `x`", "unknown provider `x`")


def test_an_api_error_says_what_the_service_said_and_cuts_it() -> None:
    error = ArcLLMAPIError(429, "slow down", "anthropic", 2.5, hint="retry later")
    assert str(error) == "`anthropic` (429): slow down; retry later"
    long = ArcLLMAPIError(status_code=None, body="x" * 600, provider="ollama")
    assert long.body == "x" * 600
    assert str(long) == f"`ollama`: {'x' * 500}…"


def test_errors_can_be_copied_to_another_process() -> None:
    error = ArcLLMAPIError(429, "slow down", "anthropic", 2.5, True, "retry later")
    error.add_note("seen")
    found = pickle.loads(pickle.dumps(error))
    assert vars(found) == vars(error)


def test_the_package_names_all_of_them() -> None:
    named = {
        "ContentBlock", "TextBlock", "ImageBlock", "ToolUseBlock", "ToolResultBlock", "Message",
        "Tool", "ToolCall", "Usage", "LLMResponse", "LLMProvider", "ArcLLMError",
        "ArcLLMParseError", "ArcLLMConfigError",
    }  # fmt: skip
    assert named <= set(arcllm.__all__)
    assert all(hasattr(arcllm, name) for name in named)
