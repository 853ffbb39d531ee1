"""What becomes of an answer of the kernel."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import kernel_strategies
import pytest
from hypothesis import given

from amplifier_core import message_models as kernel
from arcllm import ArcLLMParseError, LLMResponse, Message, TextBlock, ToolCall, ToolUseBlock, Usage
from arcllm.convert.blocks import dump_block
from arcllm.convert.messages import kernel_messages
from arcllm.convert.response import llm_response

THOUGHT = {"type": "thinking", "thinking": "Hm", "signature": "sig"}
CALL = {"type": "tool_call", "id": "1", "name": "look", "input": {"at": "a"}}
OPAQUE = {"provider": "anthropic", "model": "m1", "requested_model": "m"}


def answer(*blocks: dict[str, Any], **fields: Any) -> kernel.ChatResponse:
    metadata = {**OPAQUE, **fields.pop("metadata", {})}
    given = {"finish_reason": "end_turn", "content": blocks, "metadata": metadata, **fields}
    return kernel.ChatResponse.model_validate(given)


def text(said: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": said, **more}


def test_a_whole_answer() -> None:
    found = answer(
        THOUGHT,
        text("Let me "),
        text("look."),
        CALL,
        finish_reason="tool_use",
        usage={
            "input_tokens": 12, "output_tokens": 5, "total_tokens": 17, "reasoning_tokens": 3,
            "cache_read_tokens": 7, "cache_write_tokens": 1, "cost_usd": Decimal("0.00042"),
        },
        metadata={"request_id": "req_1", "response_id": "msg_1", "stop_reason": "tool_use"},
    )  # fmt: skip
    response = llm_response(found, "anthropic")
    assert response.raw == found.model_dump(mode="json")
    assert response.model_dump(exclude={"opaque"}) == {
        "content": "Let me look.",
        "tool_calls": [{"id": "1", "name": "look", "arguments": {"at": "a"}}],
        "usage": {
            "input_tokens": 12, "output_tokens": 5, "total_tokens": 17, "reasoning_tokens": 3,
            "cache_read_tokens": 7, "cache_write_tokens": 1,
        },
        "model": "m1",
        "stop_reason": "tool_use",
        "thinking": "Hm",
        "metadata": {
            **OPAQUE, "request_id": "req_1", "response_id": "msg_1", "stop_reason": "tool_use",
            "cost_usd": 0.00042,
        },
    }  # fmt: skip
    assert response.message.content == [
        TextBlock(text="Let me "),
        TextBlock(text="look."),
        ToolUseBlock(id="1", name="look", arguments={"at": "a"}),
    ]


def test_a_plain_text_has_nothing_opaque() -> None:
    response = llm_response(answer(text("Hello")), "groq")
    assert response.message == Message(role="assistant", content="Hello")
    assert response.message.opaque is None
    assert response.metadata["provider"] == "groq"


def test_an_answer_of_calls_has_no_content() -> None:
    response = llm_response(answer(CALL), "groq")
    assert response.content is None
    assert response.message.content == [ToolUseBlock(id="1", name="look", arguments={"at": "a"})]


def test_an_answer_of_nothing_is_an_empty_message() -> None:
    response = llm_response(answer(), "groq")
    assert (response.content, response.message.content) == (None, [])


# Holds: arcllm-6
@pytest.mark.parametrize(
    ("word", "said", "expected"),
    [
        ("end_turn", "stop", "end_turn"),
        ("max_tokens", "length", "max_tokens"),
        ("content_filter", "content_filter", "content_filter"),
        ("refusal", "completed", "refusal"),
        ("pause_turn", "pause_turn", "pause_turn"),
        ("other", "new_reason", "new_reason"),
        ("other", None, "other"),
        (None, "eos", "eos"),
        (None, None, "unknown"),
    ],
)
def test_no_stop_reason_is_masked(word: str | None, said: str | None, expected: str) -> None:
    found = answer(text("a"), finish_reason=word, metadata={"stop_reason": said})
    assert llm_response(found, "x").stop_reason == expected


# Holds: arcllm-6
def test_usage_that_is_not_reported_is_nothing_and_named() -> None:
    response = llm_response(answer(text("a")), "x")
    assert response.usage == Usage(input_tokens=0, output_tokens=0, total_tokens=0)
    unreported = ["input_tokens", "output_tokens", "total_tokens"]
    assert response.metadata["unreported"] == unreported
    assert "cost_usd" not in response.metadata


def test_a_count_that_is_not_reported_is_named() -> None:
    usage = {"input_tokens": 0, "output_tokens": 5, "total_tokens": 5}
    found = answer(text("a"), usage=usage, metadata={"unreported": ["input_tokens"]})
    response = llm_response(found, "x")
    assert response.usage == Usage(**usage)
    assert response.metadata["unreported"] == ["input_tokens", "total_tokens"]


def test_what_has_no_place_is_named() -> None:
    picture = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "YQ=="},
    }
    search = {"type": "web_search_call", "id": "ws_1"}
    response = llm_response(answer(text("", refusal="I can't."), search, picture), "openai")
    assert response.content is None
    assert response.metadata["refusal"] == "I can't."
    assert response.metadata["other_blocks"] == ["web_search_call", "image"]


@pytest.mark.parametrize("several", [False, True])
def test_degradations_are_a_list(several: bool) -> None:
    one = {"requested": "a", "actual": "b", "reason": "c"}
    listed = [one, one] if several else [one]
    metadata = {"degradations": listed} if several else {}
    found = answer(text("a"), degradation=one, metadata=metadata)
    assert llm_response(found, "x").metadata["degradations"] == listed


def test_what_a_provider_notes_for_itself_rides_along_and_is_not_shown() -> None:
    metadata = {"openai:response_id": "resp_1", "openai:reasoning_items": [{"id": "rs_1"}]}
    response = llm_response(answer(text("a"), metadata=metadata), "openai")
    assert not any(":" in key for key in response.metadata)
    (sent,) = kernel_messages(response.message)
    assert sent.metadata == {**OPAQUE, "openai:response_id": "resp_1"}


# Holds: arcllm-4
@given(kernel_strategies.ANSWERS)
def test_the_message_of_an_answer_is_the_answer(message: kernel.Message) -> None:
    blocks = [dump_block(block) for block in message.content if not isinstance(block, str)]
    response = llm_response(answer(*blocks), "anthropic")
    stored = LLMResponse.model_validate_json(response.model_dump_json())
    for each in (response, stored):
        kept = Message.model_validate_json(each.message.model_dump_json())
        (sent,) = kernel_messages(kept)
        content = (
            [text(sent.content)]
            if isinstance(sent.content, str)
            else [dump_block(block) for block in sent.content]
        )
        assert content == [block for block in blocks if block != text("")]


# Holds: arcllm-5
@given(kernel_strategies.ANSWERS)
def test_the_message_says_what_a_response_was_changed_to(message: kernel.Message) -> None:
    blocks = [dump_block(block) for block in message.content if not isinstance(block, str)]
    response = llm_response(answer(*blocks), "anthropic")
    call = ToolCall(id="new", name="other", arguments={})
    changed = response.model_copy(update={"content": "changed by a layer", "tool_calls": [call]})
    assert changed.message.content == [
        TextBlock(text="changed by a layer"),
        ToolUseBlock(id="new", name="other", arguments={}),
    ]
    (sent,) = kernel_messages(changed.message)
    kept = [dump_block(block) for block in sent.content if not isinstance(block, str)]
    texts = [each["text"] for each in kept if each["type"] == "text" and each["text"]]
    assert texts == ["changed by a layer"]
    assert [each["id"] for each in kept if each["type"] == "tool_call"] == ["new"]


@pytest.mark.parametrize(
    ("raw", "why", "kind"),
    [
        ('{"at": ', "the arguments end too early", json.JSONDecodeError),
        ("[1]", "the arguments are not a JSON object", ValueError),
    ],
)
def test_arguments_that_cannot_be_read_are_an_error_with_the_rest(
    raw: str, why: str, kind: type[Exception]
) -> None:
    broken = {**CALL, "id": "2", "input": {}, "error": why, "raw_arguments": raw}
    with pytest.raises(ArcLLMParseError) as caught:
        llm_response(answer(THOUGHT, text("Look"), CALL, broken), "anthropic")
    error = caught.value
    assert error.raw_string == raw
    assert type(error.original_error) is kind
    response = error.response
    assert response is not None
    assert (response.content, [call.id for call in response.tool_calls]) == ("Look", ["1"])
    assert response.metadata["unparsed_calls"] == [
        {"id": "2", "name": "look", "raw_arguments": raw, "error": why}
    ]
