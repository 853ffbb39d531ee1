"""Settings that become headers: any text is refused by name, or sent as it is."""

from __future__ import annotations

from typing import Any

import h11
import httpx2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from amplifier_core.llm_errors import ConfigurationError
from amplifier_core.message_models import ChatRequest, Message
from amplifier_providers.anthropic.config import AnthropicConfig, read_config
from amplifier_providers.anthropic.wire_format import AnthropicFormat

KEY = "sk-ant-very-secret"
REQUEST = ChatRequest(messages=[Message(role="user", content="hi")])
SIGNS = st.sampled_from("\r\n\0\t ,;:/@?#[]%é\x7f\x80\xa0\u202e\u3002\udc80-_.x1")
TEXTS = st.text(SIGNS | st.characters(codec=None), max_size=12)


def read(config: dict[str, Any]) -> AnthropicConfig | ConfigurationError | None:
    try:
        return read_config({"api_key": KEY, **config}, {})
    except ConfigurationError as error:
        return error


def sent(config: dict[str, Any]) -> h11.Request | None:
    """The request that a config leads to, checked as HTTP; None if the config is refused."""
    settings = read(config)
    if isinstance(settings, ConfigurationError):
        assert all(f"`{key}" in str(settings) for key in config)
        assert str(settings).startswith("provider-anthropic: ")
        assert str(settings).isprintable()
        return None
    if settings is None:
        assert not config["api_key"].strip()
        return None
    encoded = AnthropicFormat(settings).encode(REQUEST)
    headers = {"x-api-key": settings.api_key, "anthropic-beta": "", **encoded.headers}
    request = httpx2.Request("POST", f"{settings.base_url}/v1/messages", headers=headers)
    assert request.url.raw_path.endswith(b"/v1/messages")
    return h11.Request(
        method="POST", target=request.url.raw_path, headers=list(request.headers.raw)
    )


@given(TEXTS)
@example("a\r\nx-injected: 1")
@example("é")
def test_a_key_is_sent_as_it_is_or_refused(text: str) -> None:
    request = sent({"api_key": text})
    if request is not None:
        assert (b"x-api-key", text.strip().encode()) in request.headers


@given(st.lists(TEXTS, max_size=3), st.booleans())
@example(["a\r\nx-injected: 1"], True)
@example(["é"], False)
def test_beta_headers_are_sent_as_they_are_or_refused(names: list[str], joined: bool) -> None:
    request = sent({"beta_headers": ",".join(names) if joined else names})
    if request is not None:
        given_names = ",".join(names).split(",") if joined else names
        expected = dict.fromkeys(name.strip() for name in given_names if name.strip())
        assert (b"anthropic-beta", ",".join(expected).encode()) in request.headers


@given(TEXTS, st.sampled_from(["http://{}", "https://host/{}", "http://user:{}@host", "{}"]))
@example("h#fragment", "http://{}")
@example("\xb8", "http://{}")
def test_an_address_can_be_asked_or_is_refused(text: str, form: str) -> None:
    sent({"base_url": form.format(text)})


@pytest.mark.parametrize("host", ["bücher.example", "localhost:1", "[::1]:80", "10.0.0.1"])
def test_real_hosts_are_accepted(host: str) -> None:
    assert sent({"base_url": f"http://{host}/proxy"}) is not None
