"""How `provider-anthropic` is set up: config, environment, address and headers."""

from __future__ import annotations

import json
import logging
import socket
import ssl
from typing import Any

import httpx2
import pytest

from amplifier_core import ModuleCoordinator
from amplifier_core.llm_errors import ConfigurationError, NetworkError
from amplifier_core.message_models import (
    ChatRequest,
    Message,
    ToolCall,
)
from amplifier_providers.anthropic import AnthropicProvider
from amplifier_providers.anthropic import provider as anthropic
from amplifier_providers.anthropic.config import AnthropicConfig, read_config

KEY = "sk-ant-very-secret"
MODEL = "claude-sonnet-4-5"
REQUEST = ChatRequest(messages=[Message(role="user", content="hi")])


async def test_the_request_goes_to_the_right_place_with_the_right_headers(
    server: Any, wire: Any
) -> None:
    for suffix, path in (("", ""), ("/", ""), ("/v1", ""), ("/proxy/v1/", "/proxy")):
        server.answers = [server.Answer(wire.whole)]
        config = read_config(
            {
                "api_key": KEY,
                "base_url": server.url + suffix,
                "beta_headers": "a",
                "enable_1m_context": False,
            }
        )
        assert config is not None
        provider = AnthropicProvider(config)
        await provider.complete(REQUEST, model=MODEL)
        await provider.close()

        line, headers, body = server.requests.pop()
        assert line == f"POST {path}/v1/messages HTTP/1.1"
        assert headers["x-api-key"] == KEY
        assert headers["anthropic-version"] == "2023-06-01"
        assert headers["anthropic-beta"] == "a"
        assert headers["content-type"] == "application/json"
        assert json.loads(body)["messages"][0]["content"][0]["text"] == "hi"


async def test_a_proxy_of_the_environment_is_not_asked_for_a_local_server(
    server: Any, wire: Any, provider: AnthropicProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    server.answers = [server.Answer(wire.whole)]
    assert (await provider.complete(REQUEST)).content


@pytest.fixture
def verify(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """How each client that is made shall verify the certificates of servers."""
    asked: list[Any] = []

    class Client(httpx2.AsyncClient):
        def __init__(self, *, verify: Any = True, **options: Any) -> None:
            asked.append(verify)
            super().__init__(verify=verify, **options)

    monkeypatch.setattr(httpx2, "AsyncClient", Client)
    return asked


@pytest.mark.parametrize(
    ("scheme", "is_loaded"), [("http", False), ("HTTP", False), ("https", True), ("HTTPS", True)]
)
async def test_certificate_authorities_are_loaded_only_for_an_encrypted_address(
    verify: list[Any], scheme: str, is_loaded: bool
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    config = AnthropicConfig(
        api_key=KEY, base_url=f"{scheme}://127.0.0.1:{port}", timeout=5, max_retries=0
    )
    provider = AnthropicProvider(config)

    with pytest.raises(NetworkError):
        await provider.complete(REQUEST)
    await provider.close()

    [asked] = verify
    assert (asked.cert_store_stats() != {"x509": 0, "crl": 0, "x509_ca": 0}) is is_loaded


async def test_over_plain_http_no_server_is_trusted_with_tls(
    server: Any, wire: Any, provider: AnthropicProvider, verify: list[Any]
) -> None:
    server.answers = [server.Answer(wire.whole)]
    assert (await provider.complete(REQUEST)).content

    [context] = verify
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert context.get_ca_certs() == []


async def test_proxy_settings_that_cannot_work_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "nonsense://127.0.0.1:1")
    provider = AnthropicProvider(AnthropicConfig(api_key=KEY))
    with pytest.raises(
        ConfigurationError, match=r"cannot set up connections: .*nonsense"
    ) as caught:
        await provider.complete(REQUEST)
    assert "`HTTPS_PROXY`" in str(caught.value.hint)


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


async def test_without_a_key_nothing_is_mounted_and_a_warning_says_so(
    environment: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    environment.setenv("ANTHROPIC_API_KEY", " ")
    coordinator = ModuleCoordinator()

    assert await anthropic.mount(coordinator) is None

    assert not coordinator.get("providers")
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "`ANTHROPIC_API_KEY`" in record.message


@pytest.mark.parametrize("key", [None, "", " \n"])
def test_without_a_key_no_other_setting_is_an_error(
    environment: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, key: str | None
) -> None:
    assert read_config({"api_key": key, "max_tokens": -1, "max_tokns": 1}) is None
    (record,) = caplog.records
    assert "`max_tokns` (did you mean `max_tokens`?)" in record.message
    with pytest.raises(ConfigurationError, match="`max_tokens` is -1"):
        read_config({"api_key": KEY, "max_tokens": -1})


async def test_the_environment_fills_what_the_config_leaves_open(
    server: Any, wire: Any, environment: pytest.MonkeyPatch
) -> None:
    environment.setenv("ANTHROPIC_API_KEY", KEY)
    environment.setenv("ANTHROPIC_BASE_URL", server.url)
    coordinator = ModuleCoordinator()

    close = await anthropic.mount(coordinator, {"priority": 3, "default_model": None})

    assert close is not None
    provider: AnthropicProvider = coordinator.get("providers")["anthropic"]
    assert (provider.name, provider.priority) == ("anthropic", 3)
    assert provider.config.default_model.startswith("claude-sonnet")
    server.answers = [server.Answer(wire.whole)]
    assert provider.parse_tool_calls(await provider.complete(REQUEST)) == [
        ToolCall(id="toolu_1", name="look", arguments={"at": "é"})
    ]
    info = provider.get_info()
    assert (info.id, info.credential_env_vars) == ("anthropic", ["ANTHROPIC_API_KEY"])
    assert info.defaults["context_window"] == 1_000_000
    await close()
    await close()


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"api_key": 7}, "`api_key` is of type `int` (must be text of visible ASCII characters)"),
        (
            {"api_key": "two words"},
            "`api_key` is of type `str` (must be text of visible ASCII characters)",
        ),
        (
            {"base_url": "api.example.org"},
            "`base_url` is of type `str` (must be an address like `https://",
        ),
        ({"base_url": "https://"}, "`base_url` is of type `str` (must be an address"),
        ({"base_url": "http://127.0.0.1:99999"}, "`base_url` is of type `str` (must be an address"),
        ({"base_url": "http://[::1"}, "`base_url` is of type `str` (must be an address"),
        ({"base_url": "http://two words"}, "`base_url` is of type `str` (must be an address"),
        ({"max_tokens": "9"}, "`max_tokens` is '9' (must be a whole number, at least 1)"),
        ({"max_tokens": 0}, "`max_tokens` is 0 (must be a whole number, at least 1)"),
        ({"timeout": float("inf")}, "`timeout` is inf"),
        ({"temperature": True}, "`temperature` is True (must be a number, at least 0)"),
        (
            {"thinking_budget_tokens": -1},
            "`thinking_budget_tokens` is -1 (must be a whole number, at least 0)",
        ),
        ({"beta_headers": 5}, "`beta_headers` is 5 (must be text, or a list of texts, of visible"),
        (
            {"beta_headers": [5]},
            "`beta_headers.0` is 5 (must be text, or a list of texts, of visible",
        ),
        (
            {"enable_prompt_caching": "yes"},
            "`enable_prompt_caching` is 'yes' (must be true or false)",
        ),
    ],
)
def test_a_setting_that_cannot_work_is_named(config: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read_config({"api_key": KEY, **config}, {})
    assert named in str(caught.value)
    assert "two words" not in str(caught.value)


def test_an_unknown_setting_is_a_warning_with_a_suggestion(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert read_config({"api_key": KEY, "max_token": 5, "raw": True, "zzz": 1}, {}) is not None
    first, second = (record.message for record in caplog.records)
    assert "unknown config key `max_token` (did you mean `max_tokens`?)" in first
    assert "unknown config key `zzz` (known: `api_key`, `base_url`, " in second
