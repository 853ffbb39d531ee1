"""Requests to the Anthropic API: what each wish of a request does to the body."""

from __future__ import annotations

import json
from typing import Any

import pytest

from amplifier_core.llm_errors import InvalidRequestError
from amplifier_core.message_models import (
    ChatRequest,
    Degradation,
    Message,
    ToolSpec,
)
from amplifier_providers.anthropic.config import AnthropicConfig
from amplifier_providers.anthropic.models import is_same_model, model_profile
from amplifier_providers.anthropic.wire_format import AnthropicFormat
from amplifier_providers.wire.body import WireRequest

MODEL = "claude-sonnet-4-5"
PLAIN = AnthropicConfig(
    api_key="secret-key", default_model=MODEL, enable_prompt_caching=False, thinking_budget_tokens=0
)
USER: dict[str, Any] = {"role": "user", "content": "hi"}
SPEC = ToolSpec(name="look", description="Look.", parameters={"properties": {"at": {}}})


def text(written: str) -> dict[str, Any]:
    return {"type": "text", "text": written}


def call(call_id: str, **extra: Any) -> dict[str, Any]:
    return {"type": "tool_call", "id": call_id, "name": "look", "input": {}, **extra}


def result(call_id: str, content: str = "seen") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "name": "look", "content": content}


def encode(config: AnthropicConfig = PLAIN, **wishes: Any) -> WireRequest:
    options = wishes.pop("options", None)
    wishes.setdefault("messages", [Message(**USER)])
    return AnthropicFormat(config).encode(ChatRequest(**wishes), options)


def thinking_config(**settings: Any) -> AnthropicConfig:
    return AnthropicConfig(**{"api_key": "secret-key", "default_model": MODEL, **settings})


def test_the_ends_of_what_stays_the_same_are_marked_for_caching() -> None:
    marked = {"cache_control": {"type": "ephemeral"}}
    config = AnthropicConfig(api_key="secret-key", default_model=MODEL, thinking_budget_tokens=0)

    body = encode(
        config,
        messages=[Message(role="system", content=["a", "b"][1]), Message(**USER)],
        tools=[SPEC, SPEC.model_copy(update={"name": "two"})],
    ).body

    assert body["system"] == [text("b") | marked]
    assert [tool.get("cache_control") for tool in body["tools"]] == [None, {"type": "ephemeral"}]
    assert body["messages"] == [{"role": "user", "content": [text("hi") | marked]}]


def test_a_plain_request_holds_only_what_was_asked_for() -> None:
    assert encode(tools=[SPEC], stop=["END", " "], temperature=0.5).body == {
        "model": MODEL,
        "max_tokens": 16_000,
        "messages": [{"role": "user", "content": [text("hi")]}],
        "tools": [
            {
                "name": "look",
                "description": "Look.",
                "input_schema": {"type": "object", "properties": {"at": {}}},
            }
        ],
        "stop_sequences": ["END"],
        "temperature": 0.5,
        "stream": True,
    }


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (None, None),
        ("auto", {"type": "auto"}),
        ("none", {"type": "none"}),
        ("any", {"type": "any"}),
        ("required", {"type": "any"}),
        ("look", {"type": "tool", "name": "look"}),
        ({"type": "tool", "name": "look"}, {"type": "tool", "name": "look"}),
        ({"type": "function", "function": {"name": "look"}}, {"type": "tool", "name": "look"}),
    ],
)
def test_a_tool_choice_in_any_of_its_forms(choice: Any, expected: Any) -> None:
    assert encode(tools=[SPEC], tool_choice=choice).body.get("tool_choice") == expected


def test_an_unknown_tool_choice_names_the_tools() -> None:
    with pytest.raises(InvalidRequestError, match=r"unknown tool choice `lock` .*`look`"):
        encode(tools=[SPEC], tool_choice="lock")


def test_a_tool_choice_without_tools_is_not_sent() -> None:
    assert "tool_choice" not in encode(tool_choice="auto").body


@pytest.mark.parametrize("history", [[], [{"role": "system", "content": "x"}]])
def test_nothing_to_send_is_an_invalid_request(history: list[Any]) -> None:
    with pytest.raises(InvalidRequestError, match="no message to send"):
        encode(messages=[Message(**message) for message in history])


def test_a_model_with_budgets_thinks_by_default() -> None:
    encoded = encode(thinking_config(), tools=[SPEC])

    assert encoded.body["thinking"] == {"type": "enabled", "budget_tokens": 8_192}
    assert encoded.body["max_tokens"] == 16_000
    assert encoded.headers == {
        "anthropic-beta": "interleaved-thinking-2025-05-14,context-1m-2025-08-07"
    }
    assert encoded.degradation is None


@pytest.mark.parametrize(
    ("settings", "wishes", "budget", "max_tokens"),
    [
        ({"reasoning_effort": "low"}, {}, 4_096, 16_000),
        ({}, {"reasoning_effort": "low"}, 4_096, 16_000),
        ({"thinking_budget_tokens": 10}, {}, 1_024, 16_000),
        ({"thinking_budget_tokens": 20_000}, {"reasoning_effort": "low"}, 20_000, 36_000),
        ({"thinking_budget_tokens": 900_000}, {}, 63_999, 64_000),
        ({"extended_thinking": True}, {"max_output_tokens": 100}, 8_192, 8_292),
        ({}, {"options": {"thinking_budget_tokens": 2_000, "max_tokens": 500}}, 2_000, 2_500),
    ],
)
def test_a_thinking_budget_always_fits_into_the_answer(
    settings: dict[str, Any], wishes: dict[str, Any], budget: int, max_tokens: int
) -> None:
    body = encode(thinking_config(**settings), **wishes).body
    assert (body["thinking"]["budget_tokens"], body["max_tokens"]) == (budget, max_tokens)


@pytest.mark.parametrize(
    ("settings", "wishes"),
    [
        ({"thinking_budget_tokens": 0}, {}),
        ({}, {"reasoning_effort": "none"}),
        ({}, {"options": {"extended_thinking": False}}),
        ({}, {"tools": [SPEC], "tool_choice": "any"}),
        ({"default_model": "claude-3-5-sonnet-20241022"}, {}),
        ({"default_model": "some-gateway"}, {}),
    ],
)
def test_there_is_no_thinking_where_it_is_unwanted_or_impossible(
    settings: dict[str, Any], wishes: dict[str, Any]
) -> None:
    assert "thinking" not in encode(thinking_config(**settings), **wishes).body


def test_an_adaptive_model_gets_effort_and_no_budget() -> None:
    encoded = encode(
        thinking_config(default_model="claude-sonnet-5-5", reasoning_effort="high"), tools=[SPEC]
    )
    assert encoded.body["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert encoded.body["output_config"] == {"effort": "high"}
    assert (encoded.headers, encoded.degradation) == ({}, None)


def test_what_cannot_be_given_is_reported() -> None:
    adaptive = thinking_config(default_model="claude-opus-5", thinking_budget_tokens=5_000)
    assert encode(adaptive).degradation == Degradation(
        requested="a thinking budget of 5000 tokens",
        actual="adaptive thinking",
        reason="`claude-opus-5` sets its budget itself",
    )
    forced = encode(thinking_config(), tools=[SPEC], tool_choice="look").degradation
    assert forced is not None
    assert forced.reason == "a forced tool call excludes thinking"


def test_a_tool_round_that_began_without_thinking_goes_on_without() -> None:
    history = [USER, {"role": "assistant", "content": [call("1")]}, result("1")]
    unsigned = encode(thinking_config(), messages=[Message(**message) for message in history])
    assert "thinking" not in unsigned.body
    assert unsigned.degradation is not None

    history[1]["metadata"] = {"model": "claude-sonnet-4-5"}
    history[1]["content"].insert(0, {"type": "thinking", "thinking": "t", "signature": "s"})
    signed = encode(thinking_config(), messages=[Message(**message) for message in history])
    assert "thinking" in signed.body


def test_options_of_the_call_win_over_request_and_config() -> None:
    options = {"model": "claude-opus-4-5", "max_tokens": 7, "temperature": 0.3, "unheard": 1}
    body = encode(model="claude-haiku-4-5", temperature=0.9, options=options).body
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("claude-opus-4-5", 7, 0.3)


def test_beta_headers_are_sent_once_each() -> None:
    config = thinking_config(beta_headers=("a", "interleaved-thinking-2025-05-14", "a"))
    sent = encode(config, tools=[SPEC]).headers["anthropic-beta"]
    assert sent == "a,interleaved-thinking-2025-05-14,context-1m-2025-08-07"


def test_what_json_cannot_hold_is_replaced_and_never_fatal() -> None:
    arguments = {"nan": float("nan"), "big": 10**40, "half": "\ud83d", "pair": "\ud83d\ude00"}
    history = [USER, {"role": "assistant", "content": [call("1", input=arguments)]}, result("1")]

    written = encode(messages=[Message(**message) for message in history]).to_bytes()

    sent = json.loads(written)["messages"][1]["content"][0]["input"]
    assert sent == {"nan": None, "big": 10**40, "half": "\ufffd", "pair": "😀"}


def test_a_request_that_is_no_json_at_all_is_an_invalid_request() -> None:
    endless: dict[str, Any] = {}
    endless["again"] = endless
    message = Message.model_construct(
        role="assistant", content=[call("1", input=endless)], name=None, metadata=None
    )
    request = ChatRequest.model_construct(messages=[Message(**USER), message])
    with pytest.raises(InvalidRequestError, match="cannot be written as JSON"):
        AnthropicFormat(PLAIN).encode(request)


@pytest.mark.parametrize(
    ("model", "thinking", "output"),
    [
        ("claude-3-haiku-20240307", "none", 4_096),
        ("claude-3-5-sonnet-latest", "none", 8_192),
        ("claude-3-7-sonnet-20250219", "budget", 64_000),
        ("claude-opus-4-20250514", "budget", 32_000),
        ("anthropic.claude-opus-4-1-20250805-v1:0", "budget", 32_000),
        ("claude-haiku-4-5-20251001", "budget", 64_000),
        ("claude-sonnet-4-6", "adaptive", 64_000),
        ("claude-sonnet-5", "adaptive", 64_000),
        ("claude-mythos-preview", "adaptive", 64_000),
        ("amplifier-demo", "none", 32_000),
    ],
)
def test_what_is_known_of_a_model_by_its_name(model: str, thinking: str, output: int) -> None:
    profile = model_profile(model)
    assert (profile.thinking, profile.max_output_tokens) == (thinking, output)


def test_a_dated_name_and_its_alias_are_the_same_model() -> None:
    assert is_same_model("claude-sonnet-4-5", "claude-sonnet-4-5-20250929")
    assert is_same_model("claude-opus-4-0", "claude-opus-4-20250514")
    assert not is_same_model("claude-opus-4", "claude-opus-4-5")
