"""The layers around real providers, on strict servers."""

from __future__ import annotations

from typing import Any

import pytest
from fake_step import Clock, ask
from opentelemetry.sdk.trace import TracerProvider

from amplifier_testing.servers import (
    AnthropicServer,
    ChatServer,
    Fault,
    ModelServer,
    OllamaServer,
    ResponsesServer,
    http_date,
)
from arcllm import ArcLLMAPIError, ArcLLMConfigError
from arcllm.layers.otel import OtelLayer, OtelSettings
from arcllm.layers.otel_export import Pipeline
from arcllm.layers.retry import RetryLayer, RetrySettings
from arcllm.layers.stack import build_stack
from arcllm.providers.open import open_provider
from arcllm.step import Step

NAMES = {
    "anthropic": (AnthropicServer, "claude-sonnet-4-5"),
    "openai": (ResponsesServer, "gpt-5"),
    "openai_chat": (ChatServer, "gpt-4o"),
    "ollama": (OllamaServer, "llama3.2"),
}


@pytest.fixture(params=NAMES)
def served(request: pytest.FixtureRequest) -> Any:
    server_type, model = NAMES[request.param]
    with server_type(["Hello"] * 2) as server:
        yield server, opened(request.param, model, server)


def opened(name: str, model: str, server: ModelServer) -> Step:
    key = {} if name == "ollama" else {"api_key": "sk-test"}
    return open_provider(name, model, {"base_url": server.url, **key})


async def test_a_request_carries_the_trace_of_its_call(served):
    server, provider = served
    layer = OtelLayer(
        provider, OtelSettings(metrics=False), pipeline=Pipeline(TracerProvider(shutdown_on_exit=False))
    )  # fmt: skip

    await layer.complete(ask())
    await layer.close()

    sent = server.requests[-1].headers
    assert len(sent["traceparent"].split("-")) == 4


# Holds: layer-9
@pytest.mark.parametrize(
    ("headers", "message"),
    [
        (
            {"Authorization": "Bearer other"},
            "`extra_headers` has `authorization`, which the request",
        ),
        ({"x-mine": "a\r\nx-other: b"}, "`extra_headers` has a name or a value that no header can"),
        ({"x-mine": 1}, "`extra_headers` is no mapping of texts"),
    ],
)
async def test_a_call_cannot_replace_the_key_or_break_the_request(served, headers, message):
    server, provider = served

    with pytest.raises(ArcLLMConfigError) as refused:
        await provider.complete(ask(options={"extra_headers": headers}))

    assert refused.value.message.startswith(message)
    assert server.requests == []


@pytest.mark.parametrize("status", [429, 500, 503, 529])
@pytest.mark.parametrize("streams", [False, True])
async def test_what_a_service_refuses_for_now_is_asked_for_again(served, status, streams):
    server, provider = served
    await provider.complete(ask())  # one of them asks what its model can do, the first time
    server.faults = [Fault(status=status)]
    clock = Clock()
    layer = RetryLayer(
        provider, RetrySettings(), clock=clock.seconds, sleep=clock.sleep, random=lambda: 0.0
    )

    if streams:
        answer = [piece async for piece in layer.stream(ask())][-1]
    else:
        answer = await layer.complete(ask())
    await layer.close()

    assert answer.content == "Hello"
    assert clock.slept == [1.0]


# Holds: layer-5
@pytest.mark.parametrize(
    ("headers", "least", "most"),
    [
        (lambda: {"retry-after": "7"}, 7.0, 7.0),
        (lambda: {"retry-after-ms": "2500", "retry-after": "9"}, 2.5, 2.5),
        (lambda: {"retry-after": http_date(30)}, 20.0, 31.0),
    ],
)
async def test_the_wait_that_a_service_asks_for_is_kept_in_every_form(headers, least, most):
    clock = Clock()
    with AnthropicServer(["Hello"]) as server:
        server.faults = [Fault(status=429, headers=headers())]
        provider = opened("anthropic", "claude-sonnet-4-5", server)
        layer = RetryLayer(provider, RetrySettings(), clock=clock.seconds, sleep=clock.sleep)
        await layer.complete(ask())
        await layer.close()

    (waited,) = clock.slept
    assert least <= waited <= most


async def test_a_server_that_is_gone_is_asked_again_and_then_another_one_answers():
    clock = Clock()
    with AnthropicServer() as gone:
        provider = opened("anthropic", "claude-sonnet-4-5", gone)
    layer = RetryLayer(
        provider, RetrySettings(max_retries=2), clock=clock.seconds, sleep=clock.sleep
    )
    with pytest.raises(ArcLLMAPIError):
        await layer.complete(ask())
    assert len(clock.slept) == 2

    with ChatServer(["Hello"]) as server:
        stack = build_stack(
            provider,
            {"fallback": {"chain": ["openai_chat:gpt-4o"]}},
            lambda name, model: opened(name, model, server),
        )
        call = ask(options={"temperature": 0.5})
        assert (await stack.complete(call)).content == "Hello"
        assert server.requests[-1].body["temperature"] == 0.5
        assert call.notes["fallback"] == "openai_chat:gpt-4o"
        await stack.close()


async def test_routing_knows_what_the_models_of_the_providers_can_and_cost():
    with AnthropicServer(["dear"]) as first, ChatServer(["cheap"]) as second:
        stack = build_stack(
            opened("anthropic", "claude-opus-4-1", first),
            {"routing": {"models": ["anthropic:claude-3-5-haiku-latest"], "rules": ["cost"]}},
            lambda name, model: opened(name, model, first),
        )
        await stack.complete(ask())
        assert first.requests[-1].body["model"] == "claude-3-5-haiku-latest"
        await stack.close()
        assert second.requests == []
