"""Requests and answers for models that other libraries call."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from amplifier_core.llm_errors import InvalidRequestError, StreamError
from amplifier_core.message_models import (
    ChatRequest,
    Message,
    TextBlock,
    ToolCall,
    ToolCallBlock,
    ToolSpec,
    Usage,
)
from amplifier_providers.openai_chat.chat_form import ChatForm

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
HISTORY: list[dict[str, Any]] = [
    {"role": "system", "content": "Be short."},
    {"role": "user", "content": "Add."},
    {
        "role": "assistant",
        "content": [{"type": "tool_call", "id": "1", "name": "add", "input": {"a": 1}}],
    },
    {"role": "tool", "tool_call_id": "1", "content": "3"},
]


def form(*tools: str, **fields: Any) -> ChatForm:
    specs = [ToolSpec(name=name, description="Adds.", parameters=SCHEMA) for name in tools]
    messages = [Message.model_validate(message) for message in HISTORY]
    return ChatForm.of(ChatRequest(messages=messages, tools=specs, **fields))


def called(name: str, arguments: str = '{"a": 2}') -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    call = {"id": "9", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def test_a_request_is_written_as_chat_completions() -> None:
    made = form("add", temperature=0.5, max_output_tokens=9)
    call = {"id": "1", "type": "function", "function": {"name": "add", "arguments": '{"a":1}'}}

    assert made.messages == [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "Add."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "3"},
    ]
    assert made.functions == [{"name": "add", "description": "Adds.", "parameters": SCHEMA}]
    assert made.tools == [{"type": "function", "function": each} for each in made.functions]
    assert made.body == {
        "messages": made.messages, "tools": made.tools, "temperature": 0.5, "max_tokens": 9,
    }  # fmt: skip
    assert form().tools == []


def test_nothing_to_send_is_an_error() -> None:
    with pytest.raises(InvalidRequestError):
        ChatForm.of(ChatRequest(messages=[]))


# Holds: provider-1
@pytest.mark.parametrize("name", ["add", "mcp.server/add", "n" * 140])
def test_a_call_comes_back_under_the_name_of_its_tool(name: str) -> None:
    made = form(name)
    response = made.build_response(called(made.functions[0]["name"]))

    assert response.content == [ToolCallBlock(id="9", name=name, input={"a": 2})]
    assert response.tool_calls == [ToolCall(id="9", name=name, arguments={"a": 2})]
    assert response.finish_reason == "tool_use"


def test_a_call_that_cannot_be_read_has_an_error_and_no_arguments() -> None:
    [call] = form("add").build_response(called("add", '{"a": ')).tool_calls or []

    assert call.arguments == {}
    assert "invalid tool arguments" in str(getattr(call, "error", None))


class Answer(BaseModel):
    choices: list[dict[str, Any]]
    usage: dict[str, int] | None = None


CHOICE = {"index": 0, "message": {"role": "assistant", "content": "It"}, "finish_reason": "length"}
COUNTED = {"prompt_tokens": 3, "completion_tokens": 1}
USED = Usage(input_tokens=3, output_tokens=1, total_tokens=4)


@pytest.mark.parametrize(
    ("answer", "usage", "expected"),
    [
        ({"role": "assistant", "content": "It"}, None, (None, "end_turn")),
        (
            {"content": "It"},
            {"input_tokens": 3, "output_tokens": 1, "total_tokens": 4},
            (USED, "end_turn"),
        ),
        ({"content": "It"}, USED, (USED, "end_turn")),
        ({"choices": [CHOICE], "usage": COUNTED}, None, (USED, "max_tokens")),
        (Answer(choices=[CHOICE], usage=COUNTED), None, (USED, "max_tokens")),
    ],
    ids=["a message", "counts", "usage", "a body", "a model"],
)
def test_an_answer_may_have_any_of_these_forms(answer: Any, usage: Any, expected: Any) -> None:
    response = form().build_response(answer, usage)

    assert response.content == [TextBlock(text="It")]
    assert (response.usage, response.finish_reason) == expected


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (3, "the answer is a `int` (must be a mapping with `choices`, or with `content` and"),
        (None, "the answer is a `NoneType` (must be"),
        ({}, "the answer is a `dict` (must be"),
        ({"text": "x"}, "the answer is a `dict` with `text` (must be"),
        ({"content": 5}, "the answer is a `dict` with `content` (must be"),
    ],
)
def test_what_is_no_answer_is_refused(answer: Any, said: str) -> None:
    with pytest.raises(TypeError) as caught:
        form().build_response(answer)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize("answer", [{"choices": []}, {"error": {"message": "overloaded"}}])
def test_an_answer_that_failed_is_an_error(answer: Any) -> None:
    with pytest.raises(StreamError, match="the answer cannot be read: "):
        form().build_response(answer)
