"""What goes wrong at the Anthropic API is the fitting error, in one line, without the key."""

from __future__ import annotations

import base64
import json
import socket
import traceback
from collections.abc import Callable
from typing import Any

import pytest

from amplifier_core import llm_errors
from amplifier_core.llm_errors import ConfigurationError, LLMError
from amplifier_core.message_models import (
    ChatRequest,
    Message,
)
from amplifier_providers.anthropic import AnthropicProvider
from amplifier_providers.anthropic.config import SERVICE, AnthropicConfig
from amplifier_providers.wire.errors import api_error

KEY = "sk-ant-very-secret"
MODEL = "claude-sonnet-4-5"
REQUEST = ChatRequest(messages=[Message(role="user", content="hi")])


def api_body(kind: str, message: str, **details: Any) -> bytes:
    error = {"type": kind, "message": message, **({"details": details} if details else {})}
    return json.dumps({"type": "error", "error": error, "request_id": "req_9"}).encode()


HTML = b"<html><head><style>p {}</style><title>502 Bad</title></head><body>\n<p>Gateway</p></html>"


@pytest.mark.parametrize(
    ("status", "headers", "body", "error_class", "parts"),
    [
        (
            401,
            {"request-id": "req_1"},
            api_body("authentication_error", f"invalid x-api-key {KEY}"),
            llm_errors.AuthenticationError,
            ("401 authentication_error", "invalid x-api-key [REDACTED:", "`ANTHROPIC_API_KEY`", "req_1"),
        ),
        (403, {}, api_body("permission_error", "no"), llm_errors.AccessDeniedError, ("403", "req_9")),
        (402, {}, api_body("billing_error", "pay"), llm_errors.QuotaExceededError, ("billing",)),
        (404, {}, api_body("not_found_error", "model: x"), llm_errors.NotFoundError, ("model: x",)),
        (413, {}, api_body("request_too_large", "big"), llm_errors.ContextLengthError, ("413",)),
        (
            429,
            {"retry-after": "7"},
            api_body("rate_limit_error", "slow"),
            llm_errors.RateLimitError,
            ("429 rate_limit_error", "slow"),
        ),
        (
            429,
            {},
            api_body("rate_limit_error", "spent", error_code="enforced_spend_limit_reached"),
            llm_errors.QuotaExceededError,
            ("spent",),
        ),
        (
            529,
            {},
            api_body("overloaded_error", "Overloaded"),
            llm_errors.ProviderUnavailableError,
            ("529 overloaded_error", "retry later"),
        ),
        (504, {}, api_body("timeout_error", "slow"), llm_errors.LLMTimeoutError, ("504",)),
        (500, {"content-type": "text/html"}, HTML, llm_errors.ProviderUnavailableError, ("502 Bad Gateway",)),
        (503, {}, b"", llm_errors.ProviderUnavailableError, ("503",)),
        (
            400,
            {},
            api_body("invalid_request_error", "messages.0: odd\x1b[2J\nline"),
            llm_errors.InvalidRequestError,
            ("400 invalid_request_error", "messages.0: odd [2J line"),
        ),
        (
            400,
            {},
            api_body("invalid_request_error", "prompt is too long: 3 tokens > 2 maximum"),
            llm_errors.ContextLengthError,
            ("prompt is too long",),
        ),
        (
            400,
            {},
            api_body("invalid_request_error", "Output blocked by content filtering policy"),
            llm_errors.ContentFilterError,
            ("blocked",),
        ),
        (
            400,
            {},
            api_body("invalid_request_error", "Your credit balance is too low"),
            llm_errors.QuotaExceededError,
            ("billing",),
        ),
        (418, {}, b"teapot", llm_errors.InvalidRequestError, ("418", "teapot")),
    ],
)  # fmt: skip
async def test_an_error_status_is_the_fitting_error(
    server: Any,
    provider: AnthropicProvider,
    hooks: Any,
    status: int,
    headers: dict[str, str],
    body: bytes,
    error_class: type[LLMError],
    parts: tuple[str, ...],
) -> None:
    server.answers = [server.Answer(body, status, {"content-type": "application/json", **headers})]

    with pytest.raises(LLMError) as caught:
        await provider.complete(REQUEST)

    error = caught.value
    assert type(error) is error_class
    assert (error.provider, error.model, error.status_code) == ("anthropic", MODEL, status)
    assert error.retry_after == (7.0 if "retry-after" in headers else None)
    assert error.delay_multiplier == (10.0 if status == 529 else 1.0)
    retryable = status in {429, 500, 503, 504, 529}
    assert error.retryable == (retryable and error_class is not llm_errors.QuotaExceededError)
    for part in parts:
        assert part in f"{error}; {error.hint}"
    assert "\n" not in str(error)
    assert error.hint is None or f"hint: {error.hint}" in error.__notes__
    name, payload = hooks.events[-1]
    assert name == "llm:response"
    assert payload["status"] == "error"
    assert payload["error"] == {"type": error_class.__name__, "msg": str(error)}


OVERLOAD = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


async def test_an_error_in_a_stream_counts_by_its_type(
    server: Any, wire: Any, provider: AnthropicProvider
) -> None:
    for ending in ("complete", "cut"):
        server.answers = [server.Answer(wire.sse(wire.start, *wire.text, OVERLOAD), ending=ending)]
        with pytest.raises(llm_errors.ProviderUnavailableError, match="529 overloaded") as caught:
            await provider.complete(REQUEST)
        assert caught.value.status_code == 529
        assert caught.value.retryable


@pytest.mark.parametrize("ending", ["complete", "cut"])
@pytest.mark.parametrize(
    "part",
    [
        lambda _: b"",
        lambda wire: wire.sse(wire.start),
        lambda wire: wire.sse(wire.start, *wire.call),
        lambda wire: wire.whole[:-40],
    ],
    ids=["nothing", "start", "call", "all but the end"],
)
async def test_a_stream_that_stops_in_the_middle_is_an_error(
    server: Any, wire: Any, provider: AnthropicProvider, part: Callable[[Any], bytes], ending: str
) -> None:
    server.answers = [
        server.Answer(part(wire), headers={"content-type": "text/event-stream", "request-id": "req_3"}, ending=ending)
    ]  # fmt: skip

    with pytest.raises(llm_errors.StreamError, match="was cut off") as caught:
        await provider.complete(REQUEST)

    assert "no tool call of it was run" in str(caught.value)
    assert "req_3" in str(caught.value)
    assert caught.value.retryable


async def test_a_connection_that_breaks_after_the_end_breaks_nothing(
    server: Any, wire: Any, provider: AnthropicProvider
) -> None:
    server.answers = [server.Answer(wire.whole, ending="cut")]
    assert (await provider.complete(REQUEST)).finish_reason == "tool_use"


async def test_silence_is_a_timeout(server: Any, wire: Any, provider: AnthropicProvider) -> None:
    server.answers = [server.Answer(wire.sse(wire.start, *wire.thinking), ending="hang")]
    with pytest.raises(llm_errors.LLMTimeoutError, match=r"no further data .* within 0.2 s"):
        await provider.complete(REQUEST.model_copy(update={"timeout": 0.2}))


async def test_no_server_is_a_network_error_that_names_the_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    config = AnthropicConfig(
        api_key=KEY,
        base_url=f"http://user:password@127.0.0.1:{port}",
        max_retries=0,
    )
    provider = AnthropicProvider(config)
    for call in (provider.complete(REQUEST), provider.list_models()):
        with pytest.raises(llm_errors.NetworkError) as caught:
            await call
        assert f"cannot connect to `http://127.0.0.1:{port}/v1/m" in str(caught.value)
        assert str(caught.value).endswith(": Connection refused")
        assert caught.value.hint == "check `ANTHROPIC_BASE_URL` and the network"
        assert "\nhint: check" in "".join(traceback.format_exception(caught.value))
        assert "password" not in "".join(traceback.format_exception(caught.value))
    await provider.close()


async def test_a_redirect_is_not_followed(server: Any, provider: AnthropicProvider) -> None:
    server.answers = [
        server.Answer(status=307, headers={"location": "http://127.0.0.1:1/elsewhere"})
    ]
    with pytest.raises(ConfigurationError, match=r"a redirect to `http://127.0.0.1:1/elsewhere`"):
        await provider.complete(REQUEST)
    assert len(server.requests) == 1


@pytest.mark.parametrize("headers", [{"content-type": "text/html"}, {}])
async def test_a_page_in_place_of_a_stream_is_a_wrong_address(
    server: Any, provider: AnthropicProvider, headers: dict[str, str]
) -> None:
    server.answers = [server.Answer(b"<html>log in</html>", headers=headers)]
    with pytest.raises(ConfigurationError, match="instead of an event stream"):
        await provider.complete(REQUEST)


async def test_the_key_is_in_no_error_and_no_repr(
    server: Any, wire: Any, provider: AnthropicProvider
) -> None:
    location = {"location": f"http://x/?key={KEY}"}
    encoded = base64.b64encode(KEY.encode()).decode()
    server.answers = [
        server.Answer(api_body("api_error", encoded), 500, {"content-type": "application/json"}),
        server.Answer(api_body("api_error", KEY), 500, {"content-type": "application/json"}),
        server.Answer(b"", 302, location),
        server.Answer(b"", headers={"content-type": KEY}),
        server.Answer(wire.sse({"type": "error", "error": {"type": "api_error", "message": KEY}})),
        server.Answer(wire.sse(wire.start), ending="cut"),
    ]
    shown = [repr(provider), str(provider.config), repr(provider.config), str(vars(provider))]
    for _ in range(len(server.answers)):
        with pytest.raises(LLMError) as caught:
            await provider.complete(REQUEST)
        shown += ["".join(traceback.format_exception(caught.value)), repr(caught.value)]
    assert all(KEY not in text and encoded not in text for text in shown)


def test_an_error_without_any_detail_still_says_something() -> None:
    error = api_error(SERVICE, {}, model=None)
    assert type(error) is llm_errors.ProviderUnavailableError
    assert str(error).startswith("Anthropic API error (without a status)")


@pytest.mark.parametrize(
    ("status", "kind", "seconds", "hint"),
    [
        (429, "rate_limit_error", "3600", "too many requests; retry in 3600 s"),
        (429, "rate_limit_error", "0.2", "too many requests; retry in 1 s"),
        (529, "overloaded_error", "40", "the server is unavailable; retry in 40 s"),
        (529, "overloaded_error", None, "the server is unavailable; retry later"),
    ],
)
def test_the_time_that_the_server_asks_for_is_said(
    status: int, kind: str, seconds: str | None, hint: str
) -> None:
    details = {"status": status, "type": kind, "message": "no"}
    if seconds is not None:
        details["retry_after"] = float(seconds)
    assert api_error(SERVICE, details, model="m").hint == hint
