"""Thoughts that a service refuses go, the rest of the history is sent, and it is asked once."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from amplifier_core.llm_errors import InvalidRequestError
from amplifier_core.message_models import ChatRequest, Message
from amplifier_providers import anthropic, openai
from amplifier_testing.servers import (
    Answer,
    AnthropicServer,
    ModelServer,
    ResponsesServer,
    Text,
)
from amplifier_testing.servers.serving.fault import Fault

FORGED: dict[str, dict[str, Any]] = {
    "anthropic": {"type": "thinking", "thinking": "Hm.", "signature": "forged"},
    "openai": {
        "type": "thinking",
        "thinking": "Hm.",
        "item": {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "forged"},
    },
}
SERVERS: dict[str, type[ModelServer]] = {"anthropic": AnthropicServer, "openai": ResponsesServer}


def _provider(name: str, url: str) -> Any:
    given = {"api_key": "k", "base_url": url, "reasoning_effort": "low", "max_retries": 0}
    if name == "openai":
        config = openai.read_config(given, {})
        assert config is not None
        return openai.OpenAIProvider(config)
    settings = anthropic.read_config(given, {})
    assert settings is not None
    return anthropic.AnthropicProvider(settings)


def _history(name: str, model: str) -> list[Message]:
    said = [FORGED[name], {"type": "text", "text": "So."}]
    return [
        Message(role="user", content="Why?"),
        Message.model_validate(
            {
                "role": "assistant",
                "content": said,
                "metadata": {"provider": name, "model": model},
            }
        ),
        Message(role="user", content="Go on."),
    ]


# Holds: provider-9
@pytest.mark.parametrize("name", FORGED)
async def test_refused_thoughts_are_left_out_from_then_on(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    with SERVERS[name]() as server:
        server.answers = [Answer(Text("Well.")), Answer(Text("Yes."))]
        provider = _provider(name, server.url)
        history = _history(name, provider.get_model_info().id)
        with caplog.at_level(logging.WARNING):
            first = await provider.complete(ChatRequest(messages=history))
        second = await provider.complete(ChatRequest(messages=history))
        await provider.close()

    assert [block.text for block in (*first.content, *second.content)] == ["Well.", "Yes."]
    assert [b"forged" in request.raw for request in server.requests] == [True, False, False]
    for response in (first, second):
        assert response.degradation is not None
        assert response.degradation.reason == f"`{name}` refused it"
    assert [
        record.getMessage() for record in caplog.records if "refused" in record.getMessage()
    ] == [f"thinking of `{name}` left out of requests: `{name}` refused it"]


async def test_another_refusal_is_raised_at_once() -> None:
    with AnthropicServer() as server:
        server.faults = [Fault(status=400)]
        provider = _provider("anthropic", server.url)
        history = _history("anthropic", "claude-sonnet-4-5")
        with pytest.raises(InvalidRequestError):
            await provider.complete(ChatRequest(messages=history))
        await provider.close()
    assert len(server.requests) == 1
