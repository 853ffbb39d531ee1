"""What each wish of a request does to the body, and how services differ in it."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.llm_errors import ConfigurationError, InvalidRequestError
from amplifier_core.message_models import ChatRequest, Message, ToolSpec
from amplifier_providers.openai_chat import PRESETS, ChatSettings, Preset
from amplifier_providers.openai_chat.config import with_settings
from amplifier_providers.openai_chat.presets import OTHER
from amplifier_providers.openai_chat.wire_format import ChatFormat
from amplifier_providers.wire.body import WireRequest

MODEL = "some-model"
USER: dict[str, Any] = {"role": "user", "content": "hi"}
SPEC = ToolSpec(name="look", description="Look.", parameters={"properties": {"at": {}}})
OTHER_SPEC = ToolSpec(name="other", parameters={})
FUNCTION = {
    "type": "function",
    "function": {
        "name": "look",
        "description": "Look.",
        "parameters": {"type": "object", "properties": {"at": {}}},
    },
}
SCHEMA = {"title": "The City!", "type": "object", "properties": {"name": {"type": "string"}}}


def encode(preset: Preset = OTHER, **wishes: Any) -> WireRequest:
    options = wishes.pop("options", None)
    settings = ChatSettings(**{"default_model": MODEL, **wishes.pop("settings", {})})
    wishes.setdefault("messages", [Message(**USER)])
    encoder = ChatFormat(with_settings(preset, settings), settings)
    return encoder.encode(ChatRequest(**wishes), options)


def test_a_plain_request_holds_only_what_was_asked_for() -> None:
    wishes = {"temperature": 0.5, "top_p": 0.9, "max_output_tokens": 9}
    assert encode(tools=[SPEC], stop=["END", " "], **wishes).body == {
        "model": MODEL,
        "messages": [USER],
        "tools": [FUNCTION],
        "stop": ["END"],
        "max_tokens": 9,
        "temperature": 0.5,
        "top_p": 0.9,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert encode().body == {
        "model": MODEL,
        "messages": [USER],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_more_texts_that_end_an_answer_than_services_take_are_named() -> None:
    encoded = encode(stop=list("abcde"))
    assert encoded.body["stop"] == list("abcd")
    assert encoded.degradation is not None
    assert encoded.degradation.requested == "5 texts that end the answer"


def test_the_keywords_of_a_call_override_the_request_and_it_the_settings() -> None:
    settings = {"max_tokens": 1, "temperature": 0.1}
    wishes: dict[str, Any] = {"model": "b", "max_output_tokens": 2, "temperature": 0.2}
    options = {"model": "c", "max_tokens": 3, "temperature": 0.3}
    keys = ("model", "max_tokens", "temperature")
    found = [
        tuple(encode(settings=settings, **each).body[key] for key in keys)
        for each in ({}, wishes, {**wishes, "options": options})
    ]
    assert found == [(MODEL, 1, 0.1), ("b", 2, 0.2), ("c", 3, 0.3)]


def test_without_a_model_or_a_message_the_error_says_what_to_do() -> None:
    with pytest.raises(ConfigurationError, match="no model is named") as caught:
        encode(PRESETS["groq"], settings={"default_model": None})
    assert caught.value.hint == "set `default_model`, or name it: `groq:MODEL`"
    with pytest.raises(InvalidRequestError, match="no message to send"):
        encode(messages=[])


def named(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name}}


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (None, None),
        ("auto", "auto"),
        ("none", "none"),
        ("any", "required"),
        ("required", "required"),
        ("look", named("look")),
        ({"type": "any"}, "required"),
        ({"type": "tool", "name": "look"}, named("look")),
        (named("look"), named("look")),
    ],
)
def test_a_tool_choice_in_any_of_its_forms(choice: Any, expected: Any) -> None:
    assert encode(tools=[SPEC], tool_choice=choice).body.get("tool_choice") == expected
    assert "tool_choice" not in encode(tool_choice=choice).body


def test_an_unknown_tool_choice_names_the_tools() -> None:
    with pytest.raises(InvalidRequestError, match=r"unknown tool choice `lock` .*`look`"):
        encode(tools=[SPEC], tool_choice="lock")


def test_any_tool_has_a_word_of_its_own_at_mistral() -> None:
    body = encode(PRESETS["mistral"], tools=[SPEC], tool_choice="required").body
    assert body["tool_choice"] == "any"


def test_where_no_tool_can_be_named_the_named_one_is_the_only_one() -> None:
    body = encode(PRESETS["llama-cpp"], tools=[SPEC, OTHER_SPEC], tool_choice="look").body
    assert (body["tools"], body["tool_choice"]) == ([FUNCTION], "required")


def test_a_tool_whose_name_does_not_fit_is_sent_under_another() -> None:
    encoded = encode(tools=[ToolSpec(name="my tool", parameters={})], tool_choice="my tool")
    [(sent, name)] = encoded.tool_names.items()
    assert name == "my tool"
    assert encoded.body["tools"][0]["function"]["name"] == sent
    assert encoded.body["tool_choice"] == named(sent)


LOW = {"reasoning_effort": "low"}
ON, OFF = {"extended_thinking": True}, {"extended_thinking": False}
NONE = {"reasoning_effort": "none"}


@pytest.mark.parametrize(
    ("preset", "options", "expected", "lost"),
    [
        ("groq", LOW, {"reasoning_effort": "low"}, None),
        ("groq", NONE, {"reasoning_effort": "none"}, None),
        # Most models of such services do not think, and refuse to be asked.
        ("groq", ON, {}, "thinking"),
        ("groq", OFF, {}, "no thinking"),
        ("groq", {**OFF, **LOW}, {}, "no thinking"),
        ("openrouter", LOW, {"reasoning": {"effort": "low"}}, None),
        ("openrouter", {"reasoning": {"effort": "high"}}, {"reasoning": {"effort": "high"}}, None),
        ("openrouter", ON, {"reasoning": {"enabled": True}}, None),
        ("openrouter", OFF, {"reasoning": {"enabled": False}}, None),
        ("deepseek", LOW, {"thinking": {"type": "enabled"}, "reasoning_effort": "low"}, None),
        ("deepseek", ON, {"thinking": {"type": "enabled"}}, None),
        ("deepseek", NONE, {"thinking": {"type": "disabled"}}, None),
        ("deepseek", {}, {}, None),
        ("mistral", LOW, {}, "thinking"),
        ("mistral", OFF, {}, "no thinking"),
        ("mistral", {}, {}, None),
    ],
)
def test_each_service_is_asked_for_thinking_in_its_own_way(
    preset: str, options: dict[str, Any], expected: dict[str, Any], lost: str | None
) -> None:
    encoded = encode(PRESETS[preset], options=options)
    keys = ("reasoning_effort", "reasoning", "thinking")
    assert {key: encoded.fields[key] for key in keys if key in encoded.fields} == expected
    by_itself = "what the model does by itself"
    found = [(each.requested, each.actual) for each in encoded.degradations]
    assert found == ([(lost, by_itself)] if lost else [])


def test_deepseek_thinks_not_where_a_tool_must_be_called() -> None:
    wishes: dict[str, Any] = {"tools": [SPEC], "tool_choice": "look"}
    quiet = encode(PRESETS["deepseek"], **wishes)
    asked = encode(PRESETS["deepseek"], options=LOW, **wishes)
    assert quiet.fields["thinking"] == asked.fields["thinking"] == {"type": "disabled"}
    assert "reasoning_effort" not in asked.fields
    assert (quiet.degradations, len(asked.degradations)) == ([], 1)


def by_schema(schema: dict[str, Any]) -> dict[str, Any]:
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def test_a_schema_is_sent_where_the_server_can_hold_a_model_to_it() -> None:
    encoded = encode(**by_schema(SCHEMA))
    inner = {"name": "The_City_", "schema": SCHEMA}
    assert encoded.body["response_format"] == {"type": "json_schema", "json_schema": inner}
    assert encoded.degradations == []
    schema = {"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}}
    strict = {"type": "json_schema", "json_schema": schema, "strict": True}
    sent = encode(response_format=strict).body["response_format"]["json_schema"]
    held = {"type": "object", "$defs": schema["$defs"]}
    assert sent == {"name": "answer", "schema": held, "strict": True}


@pytest.mark.parametrize(
    ("preset", "schema", "form", "actual"),
    [
        ("deepseek", SCHEMA, {"type": "json_object"}, "a JSON object of any form"),
        ("deepseek", {"type": "array"}, None, "plain text"),
        ("groq", SCHEMA, None, "plain text"),
        ("xai", {"type": "array"}, None, "plain text"),
        ("xai", {"type": "object", "anyOf": [{"type": "object"}]}, None, "plain text"),
    ],
)
def test_elsewhere_the_model_is_told_the_schema_and_the_loss_is_said(
    preset: str, schema: dict[str, Any], form: Any, actual: str
) -> None:
    encoded = encode(PRESETS[preset], **by_schema(schema))
    assert encoded.body.get("response_format") == form
    system, _ = encoded.body["messages"]
    assert system["role"] == "system"
    assert '"type": "' in system["content"]
    assert "JSON schema" in system["content"]
    [degradation] = encoded.degradations
    assert (degradation.requested, degradation.actual) == ("response format json_schema", actual)


def test_json_of_any_form_is_asked_for_in_words_too_as_services_want_the_word() -> None:
    encoded = encode(response_format={"type": "json"})
    assert encoded.body["response_format"] == {"type": "json_object"}
    assert "JSON" in encoded.body["messages"][0]["content"]
    assert encoded.degradations == []
    encoded = encode(PRESETS["groq"], response_format={"type": "json"})
    assert "response_format" not in encoded.body
    assert len(encoded.degradations) == 1
    assert "response_format" not in encode(response_format={"type": "text"}).body


def test_services_differ_in_the_limit_the_usage_and_the_role() -> None:
    for preset, key, asks in (
        ("groq", "max_completion_tokens", True),
        ("xai", "max_completion_tokens", True),
        ("mistral", "max_tokens", False),
        ("vllm", "max_tokens", True),
    ):
        body = encode(PRESETS[preset], options={"max_tokens": 7}).body
        assert (body[key], "stream_options" in body) == (7, asks)
    developer = Preset("a", "A", system_role="developer")
    body = encode(developer, messages=[Message(role="system", content="s"), Message(**USER)]).body
    assert body["messages"][0] == {"role": "developer", "content": "s"}


def test_the_body_names_no_model_where_the_address_does() -> None:
    settings = ChatSettings(default_model=MODEL)
    encoded = ChatFormat(OTHER, settings, names_model=False).encode(
        ChatRequest(messages=[Message(**USER)])
    )
    assert (encoded.model, "model" in encoded.body) == (MODEL, False)
