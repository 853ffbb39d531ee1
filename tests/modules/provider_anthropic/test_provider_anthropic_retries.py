"""`provider-anthropic` asks a server again that could not answer, and nobody sees anything twice."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from amplifier_core import ModuleCoordinator
from amplifier_core.llm_errors import (
    AuthenticationError,
    LLMError,
    LLMTimeoutError,
    NetworkError,
    ProviderUnavailableError,
    StreamError,
)
from amplifier_core.message_models import ChatRequest, Message
from amplifier_providers.anthropic import AnthropicProvider
from amplifier_providers.anthropic import provider as anthropic
from amplifier_providers.anthropic.config import AnthropicConfig
from amplifier_providers.retries import Retries, RetrySettings

REQUEST = ChatRequest(messages=[Message(role="user", content="hi")])
OVERLOAD = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


class Time:
    """Passes while someone waits."""

    def __init__(self) -> None:
        self.now = 0

    def clock(self) -> float:
        return self.now / 1e9

    async def sleep(self, seconds: float) -> None:
        await anyio.lowlevel.checkpoint()
        self.now += round(seconds * 1e9)


def provider_for(url: str, hooks: Any) -> AnthropicProvider:
    """A provider that retries as its defaults say, in a time of its own."""
    time = Time()
    settings = RetrySettings(retry_jitter=False)
    retries = Retries("anthropic", settings, hooks, None, time.clock, time.sleep)
    config = AnthropicConfig(api_key="key", base_url=url, default_model="claude-sonnet-4-5")
    return AnthropicProvider(config, hooks, retries=retries)


@pytest.fixture
async def patient(server: Any, hooks: Any) -> AsyncIterator[AnthropicProvider]:
    provider = provider_for(server.url, hooks)
    yield provider
    await provider.close()


def refusal(server: Any, status: int, **headers: str) -> Any:
    body = json.dumps({"type": "error", "error": {"type": "x", "message": "not now"}}).encode()
    return server.Answer(body, status, {"content-type": "application/json", **headers})


# Holds: failure-10
async def test_a_server_that_answers_529_twice_and_then_streams_gives_one_answer(
    server: Any, wire: Any, hooks: Any, patient: AnthropicProvider
) -> None:
    server.answers = [
        refusal(server, 529),
        refusal(server, 529, **{"retry-after": "33"}),
        server.Answer(wire.whole),
    ]

    response = await patient.complete(REQUEST)

    assert response.finish_reason == "tool_use"
    assert len({body for _, _, body in server.requests}) == 1
    names = [name for name, _ in hooks.events]
    assert names[:4] == ["llm:request", "provider:retry", "provider:retry", "content_block:start"]
    assert (names[-1], names.count("llm:request"), names.count("llm:response")) == (
        "llm:response",
        1,
        1,
    )
    told = [data for name, data in hooks.events if name == "provider:retry"]
    assert [(data["attempt"], data["delay"], data["reason"]) for data in told] == [
        (1, 10.0, "overloaded (529)"),
        (2, 33.0, "overloaded (529)"),
    ]


async def test_a_stream_that_fails_before_anything_was_seen_of_it_is_asked_for_again(
    server: Any, wire: Any, hooks: Any, patient: AnthropicProvider
) -> None:
    server.answers = [
        server.Answer(wire.sse(wire.start), ending="cut"),
        server.Answer(wire.sse(wire.start, {"type": "ping"}, OVERLOAD)),
        server.Answer(b""),
        server.Answer(wire.whole),
    ]

    response = await patient.complete(REQUEST)

    assert len(server.requests) == 4
    assert response.finish_reason == "tool_use"
    indexes = [data["block_index"] for name, data in hooks.events if name == "content_block:start"]
    assert indexes == [0, 1, 2]


# Holds: failure-11
@pytest.mark.parametrize("ending", ["cut", "overload"])
async def test_an_answer_of_which_a_part_was_shown_is_not_asked_for_again(
    server: Any, wire: Any, hooks: Any, patient: AnthropicProvider, ending: str
) -> None:
    end = [OVERLOAD] if ending == "overload" else []
    server.answers = [server.Answer(wire.sse(wire.start, *wire.thinking[:2], *end), ending="cut")]

    with pytest.raises(StreamError if ending == "cut" else ProviderUnavailableError):
        await patient.complete(REQUEST)

    assert len(server.requests) == 1
    assert "provider:retry" not in [name for name, _ in hooks.events]


async def test_an_answer_that_nobody_watches_is_asked_for_again(server: Any, wire: Any) -> None:
    provider = provider_for(server.url, None)
    server.answers = [
        server.Answer(wire.sse(wire.start, *wire.text), ending="cut"),
        server.Answer(wire.whole),
    ]

    assert (await provider.complete(REQUEST)).finish_reason == "tool_use"
    await provider.close()


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413])
async def test_a_request_that_was_refused_is_not_sent_again(
    server: Any, patient: AnthropicProvider, status: int
) -> None:
    server.answers = [refusal(server, status)]

    with pytest.raises(LLMError):
        await patient.complete(REQUEST)
    assert len(server.requests) == 1


async def test_a_server_that_always_fails_is_asked_six_times(
    server: Any, hooks: Any, patient: AnthropicProvider
) -> None:
    server.answers = [refusal(server, 500) for _ in range(6)]

    with pytest.raises(ProviderUnavailableError, match="500") as caught:
        await patient.complete(REQUEST)

    assert len(server.requests) == 6
    assert caught.value.__notes__[0].endswith("given up (retries_exhausted)")
    assert hooks.events[-1][0] == "llm:response"
    delays = [data["delay"] for name, data in hooks.events if name == "provider:retry"]
    assert delays == [1.0, 2.0, 4.0, 8.0, 16.0]


async def test_a_server_that_is_silent_is_asked_again(
    server: Any, wire: Any, hooks: Any, patient: AnthropicProvider
) -> None:
    server.answers = [server.Answer(ending="hang"), server.Answer(wire.whole)]

    assert (await patient.complete(REQUEST.model_copy(update={"timeout": 0.2}))).content
    [told] = [data for name, data in hooks.events if name == "provider:retry"]
    assert (told["reason"], told["error_type"]) == ("timed out", LLMTimeoutError.__name__)


async def test_a_server_that_is_not_there_is_looked_for_again(hooks: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    provider = provider_for(f"http://127.0.0.1:{port}", hooks)

    with pytest.raises(NetworkError):
        await provider.complete(REQUEST)
    reasons = [data["reason"] for name, data in hooks.events if name == "provider:retry"]
    assert reasons == ["connection failed"] * 5
    await provider.close()


async def test_the_list_of_models_is_asked_for_again(
    server: Any, patient: AnthropicProvider
) -> None:
    page = json.dumps({"data": [{"id": "claude-1"}], "has_more": False}).encode()
    server.answers = [refusal(server, 503), server.Answer(page)]

    assert [model.id for model in await patient.list_models()] == ["claude-1"]


async def test_the_keys_of_the_config_are_heeded_when_it_is_mounted(server: Any) -> None:
    coordinator = ModuleCoordinator()
    seen: list[dict[str, Any]] = []
    coordinator.hooks.register("provider:retry", lambda _, data: seen.append(data), name="recorder")
    close = await anthropic.mount(
        coordinator,
        {
            "api_key": "key", "base_url": server.url, "max_retries": 3, "min_retry_delay": 0,
            "breaker_failures": 2,
        },
    )  # fmt: skip
    assert close is not None
    provider = coordinator.get("providers")["anthropic"]
    server.answers = [refusal(server, 500) for _ in range(4)]

    with pytest.raises(ProviderUnavailableError, match="500"):
        await provider.complete(REQUEST)
    with pytest.raises(ProviderUnavailableError, match=r"retry in \d+ s") as left:
        await provider.complete(REQUEST)

    assert len(server.requests) == 2
    assert [data["max_retries"] for data in seen] == [3]
    assert 0 < (left.value.retry_after or 0) <= 60
    await close()


async def test_a_refused_key_is_told_at_once(server: Any, patient: AnthropicProvider) -> None:
    server.answers = [refusal(server, 401, **{"retry-after": "1"})]
    with pytest.raises(AuthenticationError):
        await patient.complete(REQUEST)
    assert len(server.requests) == 1
