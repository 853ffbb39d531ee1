"""Each key of the config acts, on the wire or in what the provider does."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from amplifier_core.llm_errors import (
    AuthenticationError,
    ConfigurationError,
    LLMTimeoutError,
    ProviderUnavailableError,
    StreamError,
)
from amplifier_core.message_models import ChatRequest, Message, TextBlock, ThinkingBlock, ToolSpec
from amplifier_providers.ollama import OllamaConfig, mount, read_config
from amplifier_providers.retries import RetrySettings
from amplifier_testing.servers import Answer, Call, Fault, OllamaServer, Thinking

REQUEST = ChatRequest(messages=[Message(role="user", content="hi")])
LOCAL = "http://127.0.0.1:11434"


def config_of(config: dict[str, Any], **environment: str) -> OllamaConfig:
    return read_config(config, environment)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("", LOCAL),
        (" \n", LOCAL),
        ("example.org", "http://example.org:11434"),
        ("example.org/", "http://example.org:11434"),
        ("example.org:56789", "http://example.org:56789"),
        (":56789", "http://127.0.0.1:56789"),
        ("1.2.3.4", "http://1.2.3.4:11434"),
        ("1.2.3.4:", "http://1.2.3.4:11434"),
        ("0.0.0.0", LOCAL),
        ("0.0.0.0:8000", "http://127.0.0.1:8000"),
        ("http://0.0.0.0:8000", "http://127.0.0.1:8000"),
        ("[::]:8000", "http://[::1]:8000"),
        ("::1", "http://[::1]:11434"),
        ("[::1]", "http://[::1]:11434"),
        ("[::1", "http://[::1]:11434"),
        ("[fe80::1]:8000/", "http://[fe80::1]:8000"),
        ("http://example.org", "http://example.org"),
        ("https://example.org/", "https://example.org"),
        ("HTTPS://example.org:8443/ollama/", "https://example.org:8443/ollama"),
        ("http://localhost:11434/v1/", "http://localhost:11434"),
        ("localhost:11434/api", "http://localhost:11434"),
        ("ollama.com", "https://ollama.com"),
        ("'example.org:1'", "http://example.org:1"),
        ('"http://example.org:1/"', "http://example.org:1"),
        ("http://user:word@example.org:1", "http://user:word@example.org:1"),
    ],
)
def test_the_host_has_every_form_that_ollama_reads(text: str, address: str) -> None:
    assert config_of({}, OLLAMA_HOST=text).address == address
    assert config_of({"host": text}).address == address
    assert config_of({"base_url": text}).address == address


@pytest.mark.parametrize(
    "text",
    ["ftp://example.org", "example.org:port", ":0", ":70000", "[::1]x", "a b", "a?b"],
)
def test_a_host_of_another_form_is_refused_and_not_shown(text: str) -> None:
    for config, environment, name in (
        ({"host": text}, {}, "host"),
        ({"base_url": text}, {}, "base_url"),
        ({}, {"OLLAMA_HOST": text}, "OLLAMA_HOST"),
    ):
        with pytest.raises(ConfigurationError) as caught:
            read_config(config, environment)
        assert str(caught.value) == (
            f"provider-ollama: `{name}` is of type `str` (must be an address like `host`,"
            " `host:port`, `:port` or `http://host:port`)"
        )


def test_two_names_of_the_address_must_agree() -> None:
    assert config_of({"host": "a", "base_url": "http://a:11434/v1"}).address == "http://a:11434"
    with pytest.raises(ConfigurationError, match="`host` and `base_url` differ"):
        config_of({"host": "a", "base_url": "b"})


def test_the_config_goes_before_the_environment() -> None:
    variables = {"OLLAMA_HOST": "env", "OLLAMA_API_KEY": "k"}
    assert config_of({}, **variables).address == "http://env:11434"
    assert config_of({"host": "own"}, **variables).address == "http://own:11434"
    assert config_of({"base_url": "own"}, **variables).address == "http://own:11434"
    assert config_of({"host": " ", "api_key": " "}, **variables).address == "http://env:11434"
    assert config_of({"api_key": " "}, **variables).api_key == "k"
    assert "env" not in repr(config_of({}, **variables))


ON_THE_WIRE: list[tuple[dict[str, Any], str, Any]] = [
    ({"default_model": "llama3.2"}, "model", "llama3.2"),
    ({"use_streaming": False}, "stream", False),
    ({"keep_alive": "5m"}, "keep_alive", "5m"),
    ({"keep_alive": -1}, "keep_alive", -1),
    ({"enable_thinking": True}, "think", True),
    ({"enable_thinking": False}, "think", False),
    ({"reasoning_effort": "high", "default_model": "gpt-oss:20b"}, "think", "high"),
    ({"reasoning": "low", "default_model": "gpt-oss:20b"}, "think", "low"),
    ({"effort": "low", "default_model": "gpt-oss:20b"}, "think", "low"),
    ({"num_ctx": 8_192}, "options", {"num_ctx": 8_192}),
    ({"max_tokens": 7}, "options", {"num_predict": 7}),
    ({"temperature": 0}, "options", {"temperature": 0}),
]


@pytest.mark.parametrize(("config", "key", "expected"), ON_THE_WIRE)
async def test_a_key_is_seen_in_the_body(
    server: OllamaServer, provider_with: Any, config: dict[str, Any], key: str, expected: Any
) -> None:
    await provider_with(**config).complete(REQUEST)
    assert server.requests[-1].body.get(key) == expected
    await provider_with().complete(REQUEST)
    assert server.requests[-1].body.get(key) != expected
    assert server.refusals == []


@pytest.mark.parametrize(("api", "path"), [("native", "chat"), ("openai", "completions")])
async def test_the_api_says_where_requests_go(
    server: OllamaServer, provider_with: Any, api: str, path: str
) -> None:
    response = await provider_with(api=api).complete(REQUEST)
    assert response.text == "Hello! How can I help?"
    assert server.requests[-1].path.endswith(path)
    assert "authorization" not in server.requests[-1].headers


async def test_the_key_is_sent_as_a_bearer(provider_with: Any) -> None:
    with OllamaServer(api_key="sk-of-the-cloud") as cloud:
        provider = provider_with(host=cloud.url, api_key="sk-of-the-cloud")
        await provider.complete(REQUEST)
        assert "sk-of-the-cloud" not in repr(provider) + repr(provider.config)
        with pytest.raises(AuthenticationError) as caught:
            await provider_with(host=cloud.url).complete(REQUEST)
    assert caught.value.hint == "the key was refused; check `OLLAMA_API_KEY`"


@pytest.mark.parametrize("api", ["native", "openai"])
async def test_what_chat_completions_cannot_say_is_named_once(
    server: OllamaServer,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    coordinator: Any,
    api: str,
) -> None:
    monkeypatch.delenv("OLLAMA_HOST", raising=False)
    config = {"host": server.url, "api": api, "num_ctx": 9_000, "keep_alive": "5m"}
    close = await mount(coordinator, config)
    await close()
    named = [f"`{key}` has no effect" for key in ("num_ctx", "keep_alive")]
    said = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    assert len(said) == (2 if api == "openai" else 0)
    assert all(name in line for name, line in zip(named, said, strict=False))


async def test_tags_become_thinking_and_the_tags_of_tools_are_those_of_the_config(
    server: OllamaServer, provider_with: Any
) -> None:
    server.answers = ["<think>why</think>because"]
    provider = provider_with(thinking_tags="think", tool_tags="call")
    response = await provider.complete(REQUEST)
    assert [type(each) for each in response.content] == [ThinkingBlock, TextBlock]
    assert provider.tool_tags == ("call",)


async def test_raw_shows_what_is_sent_and_what_came_back(
    server: OllamaServer, hooks: Any, provider_with: Any
) -> None:
    server.answers = [Answer(Thinking("Hm."), "hello")]
    await provider_with(raw=True, enable_thinking=True, max_tokens=5).complete(REQUEST)
    [asked], [answered] = hooks.of("llm:request"), hooks.of("llm:response")
    assert asked["raw"] == server.requests[0].body
    assert (asked["thinking"], asked["max_tokens"]) == ({"think": True}, 5)
    assert answered["raw"] == [{"thinking": "Hm."}, {"type": "text", "text": "hello"}]


async def test_the_limits_of_an_answer_act(server: OllamaServer, provider_with: Any) -> None:
    server.answers = ["hello" * 99]
    with pytest.raises(StreamError, match="`max_answer_bytes` of provider-ollama"):
        await provider_with(max_answer_bytes=100).complete(REQUEST)


async def test_calls_past_the_limit_of_an_answer_are_refused(
    server: OllamaServer, provider_with: Any
) -> None:
    server.answers = [Answer(Call("look"), Call("look"))]
    request = REQUEST.model_copy(update={"tools": [ToolSpec(name="look", parameters={})]})
    response = await provider_with(max_calls_per_answer=1).complete(request)
    errors = [(call.model_extra or {}).get("error") for call in response.tool_calls]
    assert errors[0] is None
    assert "at most 1 tool call" in errors[1]


async def test_waiting_has_an_end(server: OllamaServer, provider_with: Any) -> None:
    for config in ({"timeout": 0.05}, {"content_timeout": 0.05}):
        server.faults = [Fault(silent=True)]
        with pytest.raises(LLMTimeoutError):
            await provider_with(**config).complete(REQUEST)


async def test_a_call_is_repeated_as_often_as_the_settings_say(
    server: OllamaServer, hooks: Any, provider_with: Any
) -> None:
    server.faults = [Fault(status=503) for _ in range(3)]
    with pytest.raises(ProviderUnavailableError):
        await provider_with(max_retries=2, min_retry_delay=0).complete(REQUEST)
    assert (len(server.requests), len(hooks.of("provider:retry"))) == (3, 2)


async def test_every_key_has_its_test() -> None:
    here = {key for config, _, _ in ON_THE_WIRE for key in config}
    others = {
        "host", "base_url", "api_key", "api", "auto_pull", "thinking_tags", "tool_tags", "raw",
        "max_answer_bytes", "max_calls_per_answer", "timeout", "content_timeout", "filtered", "priority",
    }  # fmt: skip
    of_the_base = {
        "max_concurrent_requests", "throttle_threshold", "throttle_delay", "rate_limit_state_path",
        "fallback_on_overload", "fallback_model", "fallback_cooldown", "fallback_state_path",
        "prices", "http_client", "extended_thinking", "thinking_mode_enabled",
        *RetrySettings.model_fields,
    }  # fmt: skip
    assert set(OllamaConfig.model_fields) - here - others - of_the_base == set()


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"api": "chat"}, "`api` is 'chat' (must be `native` or `openai`)"),
        ({"num_ctx": 0}, "`num_ctx` is 0 (must be a whole number, at least 1)"),
        ({"max_tokens": "9"}, "`max_tokens` is '9' (must be a whole number, at least 1)"),
        ({"keep_alive": "5"}, "`keep_alive` is '5' (must be a number of seconds, or a duration"),
        ({"keep_alive": "soon"}, "`keep_alive` is 'soon' (must be a number of seconds, or a"),
        ({"keep_alive": True}, "`keep_alive"),
        ({"enable_thinking": "yes"}, "`enable_thinking` is 'yes' (must be true or false)"),
        ({"auto_pull": 1}, "`auto_pull` is 1 (must be true or false)"),
        ({"api_key": "a b"}, "`api_key` is of type `str` (must be text of visible ASCII"),
    ],
)
def test_a_setting_that_cannot_work_is_named(config: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        config_of(config)
    assert named in str(caught.value)


@pytest.mark.parametrize("value", [0, 300, 1.5, -1, "0", "5m", "1h30m", "24h", "-1m", "1.5s"])
def test_the_model_stays_loaded_for_seconds_or_a_duration(value: Any) -> None:
    assert config_of({"keep_alive": value}).keep_alive == value


def test_an_unknown_setting_is_a_warning_with_a_suggestion(
    caplog: pytest.LogCaptureFixture,
) -> None:
    config_of({"num_ctxt": 5, "thinking_budget_tokens": 3})
    first, second = (record.message for record in caplog.records)
    assert "unknown config key `num_ctxt` (did you mean `num_ctx`" in first
    assert "unknown config key `thinking_budget_tokens`" in second
