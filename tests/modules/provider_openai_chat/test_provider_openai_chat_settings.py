"""Each key of the config acts, on the wire or in what the provider does."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from amplifier_core import ModuleCoordinator
from amplifier_core.llm_errors import (
    ConfigurationError,
    LLMTimeoutError,
    ProviderUnavailableError,
    StreamError,
)
from amplifier_core.message_models import ChatRequest, ImageBlock, Message, ToolSpec
from amplifier_providers.openai_chat import OpenAIChatConfig, mount, read_config
from amplifier_providers.openai_chat.config import ChatConfig
from amplifier_providers.retries import RetrySettings

USER = Message(role="user", content="hi")
REQUEST = ChatRequest(messages=[USER], tools=[ToolSpec(name="look", parameters={})])
SCHEMA = {"type": "json_schema", "json_schema": {"type": "object"}}
PNG = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
THOUGHT = Message(
    role="assistant",
    content=[{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "so"}],
)


@pytest.fixture
def sent(server: Any, wire: Any, provider_with: Any) -> Any:
    """Return the request that a provider with these settings sends."""

    async def ask(config: dict[str, Any], **wishes: Any) -> Any:
        server.answers = [wire.Answer(wire.said("hello"))]
        await provider_with(**config).complete(REQUEST.model_copy(update=wishes))
        return server.asked[-1]

    return ask


ON_THE_WIRE: list[tuple[dict[str, Any], str, Any]] = [
    ({"default_model": "m"}, "model", "m"),
    ({"max_tokens": 7}, "max_tokens", 7),
    ({"temperature": 0.5}, "temperature", 0.5),
    ({"parallel_tool_calls": False}, "parallel_tool_calls", False),
    ({"reasoning_effort": "low"}, "reasoning_effort", "low"),
    ({"reasoning": "high", "reasoning_effort": "low"}, "reasoning_effort", "high"),
    ({"effort": "low"}, "reasoning_effort", "low"),
    ({"extended_thinking": "low"}, "reasoning_effort", "low"),
    ({"preset": "deepseek", "thinking_mode_enabled": False}, "thinking", {"type": "disabled"}),
    ({"reasoning": "low", "thinking_request": "reasoning"}, "reasoning", {"effort": "low"}),
    ({"include_usage": False}, "stream_options", None),
    ({"extra_body": {"seed": 3}}, "seed", 3),
    ({"extra_body": {"max_tokens": 1}, "max_tokens": 7}, "max_tokens", 1),
    ({"preset": "groq", "max_tokens": 7}, "max_completion_tokens", 7),
]


@pytest.mark.parametrize(("config", "key", "expected"), ON_THE_WIRE)
async def test_a_key_is_seen_in_the_body(
    sent: Any, config: dict[str, Any], key: str, expected: Any
) -> None:
    assert (await sent(config)).body.get(key) == expected
    assert (await sent({})).body.get(key) != expected


async def test_the_key_the_address_and_the_headers_are_seen_in_the_request(
    sent: Any, server: Any
) -> None:
    asked = await sent({"base_url": f"{server.url}/deep/", "extra_headers": {"X-Title": "Mine"}})
    assert asked.path == "/v1/deep/chat/completions"
    assert asked.headers["authorization"] == "Bearer sk-very-secret"
    assert asked.headers["x-title"] == "Mine"
    assert "authorization" not in (await sent({"api_key": " "})).headers


async def test_the_replay_and_the_form_of_answers_can_be_set(sent: Any) -> None:
    asked = await sent({"thinking_replay": "reasoning"}, messages=[USER, THOUGHT, USER])
    assert asked.body["messages"][1]["reasoning"] == "hm"
    form = ChatRequest(messages=[USER], response_format=SCHEMA).response_format
    asked = await sent({"structured_output": "none"}, response_format=form)
    assert "response_format" not in asked.body
    assert "JSON schema" in asked.body["messages"][0]["content"]


async def test_the_order_of_messages_and_the_ids_of_calls_can_be_set(sent: Any) -> None:
    call = {"type": "tool_call", "id": "call_1", "name": "look", "input": {}}
    result = Message(role="tool", tool_call_id="call_1", content="seen")
    history = [USER, Message(role="assistant", content=[call]), result, USER]
    asked = await sent({}, messages=history)
    assert [each["role"] for each in asked.body["messages"]][-2:] == ["tool", "user"]
    assert asked.body["messages"][1]["tool_calls"][0]["id"] == "call_1"
    asked = await sent({"user_after_result": False, "short_call_ids": True}, messages=history)
    assert [each["role"] for each in asked.body["messages"]][-2:] == ["assistant", "user"]
    assert len(asked.body["messages"][1]["tool_calls"][0]["id"]) == 9


async def test_vision_decides_whether_images_are_sent(sent: Any) -> None:
    image = Message(role="user", content=[ImageBlock(source=PNG)])
    [message] = (await sent({}, messages=[image])).body["messages"]
    assert message["content"][0]["type"] == "image_url"
    [message] = (await sent({"vision": False}, messages=[image])).body["messages"]
    assert "cannot see" in message["content"]


async def test_the_sizes_and_the_priority_are_what_the_provider_says(provider_with: Any) -> None:
    provider = provider_with(context_window=1000, max_output_tokens=10, priority=3)
    info = provider.get_model_info("any")
    assert (info.context_window, info.max_output_tokens, provider.priority) == (1000, 10, 3)
    defaults = provider.get_info().defaults
    assert (defaults["context_window"], defaults["max_output_tokens"]) == (1000, 10)


async def test_raw_shows_what_is_sent_and_what_came_back(
    sent: Any, hooks: Any, server: Any
) -> None:
    await sent({})
    await sent({"raw": True})
    plain, shown = hooks.of("llm:request")
    assert ("raw" in plain, shown["raw"]) == (False, server.bodies[1])
    assert hooks.of("llm:response")[1]["raw"] == [{"type": "text", "text": "hello"}]


async def test_the_limits_of_an_answer_act(server: Any, wire: Any, provider_with: Any) -> None:
    server.answers = [wire.Answer(wire.said("hello" * 99))]
    with pytest.raises(StreamError, match="`max_answer_bytes` of provider-openai-chat"):
        await provider_with(max_answer_bytes=100).complete(REQUEST)


async def test_calls_past_the_limit_of_an_answer_are_refused(
    server: Any, wire: Any, provider_with: Any
) -> None:
    calls = [wire.call(number, f"call_{number}", "look", "{}") for number in range(2)]
    server.answers = [wire.Answer(wire.sse(wire.chunk(tool_calls=calls), wire.chunk("tool_calls")))]
    response = await provider_with(max_calls_per_answer=1).complete(REQUEST)
    errors = [(call.model_extra or {}).get("error") for call in response.tool_calls]
    assert errors[0] is None
    assert "at most 1 tool call" in errors[1]


async def test_waiting_has_an_end(server: Any, wire: Any, provider_with: Any) -> None:
    for config in ({"timeout": 0.05}, {"content_timeout": 0.05}):
        server.answers = [wire.Answer(b": wait\n\n", hangs=True)]
        with pytest.raises(LLMTimeoutError):
            await provider_with(**config).complete(REQUEST)


async def test_a_call_is_repeated_as_often_as_the_settings_say(
    server: Any, hooks: Any, wire: Any, provider_with: Any
) -> None:
    server.answers = [wire.Answer(b"{}", 503, "application/json") for _ in range(3)]
    with pytest.raises(ProviderUnavailableError):
        await provider_with(max_retries=2, min_retry_delay=0).complete(REQUEST)
    assert (len(server.asked), len(hooks.of("provider:retry"))) == (3, 2)


async def test_every_key_has_its_test() -> None:
    here = {key for config, _, _ in ON_THE_WIRE for key in config}
    others = {
        "api_key", "base_url", "preset", "extra_headers", "thinking_replay", "structured_output",
        "user_after_result", "short_call_ids", "vision", "context_window", "max_output_tokens", "priority", "raw", "max_answer_bytes",
        "max_calls_per_answer",
        "timeout", "content_timeout", "use_streaming", "filtered", "thinking_tags", "tool_tags",
    }  # fmt: skip
    of_the_base = {
        "max_concurrent_requests", "throttle_threshold", "throttle_delay", "rate_limit_state_path",
        "prices", "http_client",
        "fallback_on_overload", "fallback_model", "fallback_cooldown", "fallback_state_path",
        *RetrySettings.model_fields,
    }  # fmt: skip
    assert set(OpenAIChatConfig.model_fields) - here - others - of_the_base == set()


MODELS = [
    {"id": "chat", "context_length": 1000, "architecture": {"input_modalities": ["text"]}},
    {"id": "vllm", "max_model_len": 2000},
    {"id": "groq", "context_window": 3000, "max_completion_tokens": 30, "active": True},
    {"id": "old", "active": False},
    {"id": "text-embedding-3"},
    {"id": "paint", "architecture": {"output_modalities": ["image"]}},
    {"id": "mute", "capabilities": {"completion_chat": False}},
    {"id": "rank", "type": "rerank"},
]


@pytest.mark.parametrize("as_list", [False, True])
async def test_the_list_of_models_says_what_they_can_do(
    server: Any, wire: Any, provider_with: Any, as_list: bool
) -> None:
    body = json.dumps(MODELS if as_list else {"object": "list", "data": MODELS}).encode()
    provider = provider_with(filtered=True)
    assert provider.get_model_info("chat").context_window == 128_000
    server.answers = [wire.Answer(body, content_type="application/json")]
    found = await provider.list_models()
    assert server.asked[0].path == "/v1/models"
    assert [(each.id, each.context_window) for each in found] == [
        ("chat", 1000),
        ("vllm", 2000),
        ("groq", 3000),
    ]
    assert found[2].max_output_tokens == 30
    assert ["vision" in each.capabilities for each in found] == [False, True, True]
    assert provider.get_model_info("chat") == found[0]

    server.answers = [wire.Answer(body, content_type="application/json")]
    assert len(await provider_with(filtered=False).list_models()) == len(MODELS)


async def test_a_model_that_is_listed_as_blind_gets_no_images(
    server: Any, wire: Any, provider_with: Any
) -> None:
    provider = provider_with()
    body = json.dumps({"data": MODELS}).encode()
    server.answers = [
        wire.Answer(body, content_type="application/json"),
        wire.Answer(wire.said("a")),
    ]
    await provider.list_models()
    image = Message(role="user", content=[ImageBlock(source=PNG)])
    await provider.complete(ChatRequest(messages=[image]), model="chat")
    assert "cannot see" in server.bodies[1]["messages"][0]["content"]


async def test_other_content_is_no_list_of_models(
    server: Any, wire: Any, provider_with: Any
) -> None:
    for body in (b"<html>", b'{"data": 3}', b"7", b"[1]"):
        server.answers = [wire.Answer(body, content_type="text/html")]
        with pytest.raises(ConfigurationError, match="instead of a list of models"):
            await provider_with().list_models()


def config_of(config: dict[str, Any], environment: dict[str, str] | None = None) -> ChatConfig:
    found = read_config(config, environment or {})
    assert isinstance(found, ChatConfig)
    return found


def test_the_environment_fills_what_the_config_leaves_open() -> None:
    environment = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "https://example.org/v1/"}
    settings = config_of({}, environment).settings
    assert (settings.api_key, settings.base_url) == ("k", "https://example.org/v1")
    settings = config_of({"api_key": "own", "base_url": "http://a"}, environment).settings
    assert (settings.api_key, settings.base_url) == ("own", "http://a")


def test_a_preset_takes_its_own_variable_and_never_the_key_of_another() -> None:
    environment = {"OPENAI_API_KEY": "wrong", "OPENAI_BASE_URL": "http://wrong"}
    assert read_config({"preset": "groq"}, environment) == (
        "no API key; set `GROQ_API_KEY` or the config key `api_key`"
    )
    settings = config_of({"preset": "groq"}, {**environment, "GROQ_API_KEY": "k"}).settings
    assert (settings.api_key, settings.base_url) == ("k", "https://api.groq.com/openai/v1")
    settings = config_of({"preset": "vllm"}, environment).settings
    assert (settings.api_key, settings.base_url) == (None, "http://localhost:8000/v1")


async def test_without_an_address_nothing_is_mounted_and_a_warning_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    coordinator = ModuleCoordinator()
    assert await mount(coordinator, {"api_key": "k"}) is None
    assert not coordinator.get("providers")
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert record.message == (
        "provider-openai-chat is not mounted: no address; set `OPENAI_BASE_URL` or the config key"
        " `base_url`, or choose a `preset`"
    )


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"api_key": 7}, "`api_key` is of type `int` (must be text of visible ASCII characters)"),
        ({"base_url": "example.org"}, "`base_url` is of type `str` (must be an address"),
        ({"preset": "grok"}, "`preset` is 'grok' (must be `openrouter`, `groq`, "),
        ({"max_tokens": 0}, "`max_tokens` is 0 (must be a whole number, at least 1)"),
        (
            {"thinking_request": "x"},
            "`thinking_request` is 'x' (must be `none`, `reasoning_effort`",
        ),
        ({"extra_headers": {"a b": "c"}}, "`extra_headers` is of type `dict` (must be a mapping"),
        ({"extra_headers": {"a": "c\n"}}, "`extra_headers` is of type `dict` (must be a mapping"),
        ({"extra_body": {"stream": False}}, "(must be a mapping without `messages`, `model` and"),
        ({"vision": "yes"}, "`vision` is 'yes' (must be true or false)"),
    ],
)
def test_a_setting_that_cannot_work_is_named(config: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read_config({"base_url": "http://a", **config}, {})
    assert named in str(caught.value)


def test_an_unknown_setting_is_a_warning_with_a_suggestion(
    caplog: pytest.LogCaptureFixture,
) -> None:
    config_of({"base_url": "http://a", "max_token": 5, "thinking_budget_tokens": 3})
    first, second = (record.message for record in caplog.records)
    assert "unknown config key `max_token` (did you mean `max_tokens`" in first
    assert "unknown config key `thinking_budget_tokens`" in second
