"""The options of a call: where they go, and which are refused."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core import message_models as kernel
from arcllm import ArcLLMConfigError, Message, Tool
from arcllm.convert.options import OPTIONS, kernel_request
from arcllm.step import Call

QUESTION = [Message(role="user", content="hi")]
SENT = [kernel.Message(role="user", content="hi")]
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}


def asked(**options: Any) -> tuple[kernel.ChatRequest, dict[str, Any]]:
    return kernel_request(Call(QUESTION, None, options), SENT)


def test_each_option_has_its_place() -> None:
    tool = Tool(name="look", description="Looks.", parameters=SCHEMA)
    options: dict[str, Any] = {
        "temperature": 0.5,
        "max_tokens": 100,
        "top_p": 0.9,
        "stop": ["END"],
        "tool_choice": "look",
        "reasoning_effort": "low",
        "extended_thinking": True,
        "response_format": "json",
        "timeout": 5,
        "extra_headers": {"X-Team": "blue"},
        "metadata": {"user": "u1"},
    }
    assert set(options) == set(OPTIONS)
    request, keywords = kernel_request(Call(QUESTION, [tool], options), SENT)
    assert keywords == {"extended_thinking": True, "extra_headers": {"X-Team": "blue"}}
    assert request == kernel.ChatRequest(
        messages=SENT,
        tools=[kernel.ToolSpec(name="look", description="Looks.", parameters=SCHEMA)],
        temperature=0.5,
        max_output_tokens=100,
        top_p=0.9,
        stop=["END"],
        tool_choice="look",
        reasoning_effort="low",
        response_format=kernel.ResponseFormatJson(),
        timeout=5,
        metadata={"user": "u1"},
    )


def test_none_is_no_option() -> None:
    request, keywords = asked(**dict.fromkeys(OPTIONS))
    assert request == kernel.ChatRequest(messages=SENT)
    assert keywords == {}


def test_one_stop_text_is_a_list_of_one() -> None:
    assert asked(stop="END")[0].stop == ["END"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("text", kernel.ResponseFormatText()),
        ("json_object", kernel.ResponseFormatJson()),
        ({"type": "json_object"}, kernel.ResponseFormatJson()),
        (
            {"type": "json_schema", "schema": SCHEMA},
            kernel.ResponseFormatJsonSchema(json_schema=SCHEMA),
        ),
        (
            {"type": "json_schema", "json_schema": SCHEMA, "strict": True},
            kernel.ResponseFormatJsonSchema(json_schema=SCHEMA, strict=True),
        ),
        (  # as OpenAI writes it
            {
                "type": "json_schema",
                "json_schema": {"name": "person", "schema": SCHEMA, "strict": True},
            },
            kernel.ResponseFormatJsonSchema(json_schema={"title": "person", **SCHEMA}, strict=True),
        ),
        (
            kernel.ResponseFormatJsonSchema(json_schema=SCHEMA),
            kernel.ResponseFormatJsonSchema(json_schema=SCHEMA),
        ),
    ],
)
def test_the_form_of_an_answer_in_all_the_words_for_it(given: Any, expected: Any) -> None:
    assert asked(response_format=given)[0].response_format == expected


@pytest.mark.parametrize(
    ("name", "value", "form"),
    [
        ("temperature", "hot", "a number from 0"),
        ("temperature", -1, "a number from 0"),
        ("temperature", True, "a number from 0"),
        ("temperature", float("nan"), "a number from 0"),
        ("max_tokens", 0, "a whole number from 1"),
        ("max_tokens", 10**30, "a whole number from 1"),
        ("max_tokens", 1.5, "a whole number from 1"),
        ("top_p", 2, "a number from 0 to 1"),
        ("stop", [1], "a text or a list of texts"),
        ("stop", 5, "a text or a list of texts"),
        ("tool_choice", 5, "`auto`, `none`, `required`, or the name of a tool"),
        ("reasoning_effort", "", "`low`, `medium`, `high` or another that the model knows"),
        ("extended_thinking", "yes", "true or false"),
        ("timeout", 0, "seconds, more than 0"),
        ("timeout", float("inf"), "seconds, more than 0"),
        ("metadata", [], "a mapping"),
        ("response_format", 5, "`text`, `json`, or {"),
        ("response_format", "xml", "`text`, `json`, or {"),
        ("response_format", {"type": "json_schema"}, "`text`, `json`, or {"),
    ],
)
def test_a_value_that_an_option_cannot_have_is_refused(name: str, value: Any, form: str) -> None:
    with pytest.raises(ArcLLMConfigError) as caught:
        asked(**{name: value})
    assert caught.value.message.startswith(f"option `{name}` is `")
    assert f"(must be {form}" in caught.value.message


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("temprature", "(did you mean `temperature`?)"),
        (
            "xyzzy",
            (
                "(known: `extended_thinking`, `extra_headers`, `max_tokens`, `metadata`,"
                " `reasoning_effort`, `response_format`, `stop`, `temperature`, `timeout`,"
                " `tool_choice`, `top_p`)"
            ),
        ),
    ],
)
def test_an_unknown_option_is_refused_with_what_is_meant_or_all_that_are_known(
    name: str, advice: str
) -> None:
    with pytest.raises(ArcLLMConfigError) as caught:
        asked(**{name: 1})
    assert caught.value.message == f"unknown option `{name}` {advice}"
