"""Servers with a context window refuse what is longer, in the words of their vendors."""

from __future__ import annotations

import httpx2
import pytest

from amplifier_testing.servers import (
    AnthropicServer,
    ChatServer,
    OllamaServer,
    ResponsesServer,
    Window,
)

HEADERS = {"x-api-key": "k", "authorization": "Bearer k", "anthropic-version": "2023-06-01"}
HI = [{"role": "user", "content": "hi"}]
SERVERS = {
    "anthropic": (
        AnthropicServer,
        "/v1/messages",
        {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": HI},
        "prompt is too long: {} tokens > 10 maximum",
    ),
    "responses": (
        ResponsesServer,
        "/responses",
        {"model": "gpt-5.5", "input": "hi"},
        "maximum context length is 10 tokens. However, your messages resulted in {} tokens",
    ),
    "chat": (
        ChatServer,
        "/chat/completions",
        {"model": "gpt-4o", "messages": HI},
        "maximum context length is 10 tokens. However, your messages resulted in {} tokens",
    ),
    "ollama": (
        OllamaServer,
        "/api/chat",
        {"model": "qwen3:8b", "messages": HI},
        "input length ({} tokens) exceeds the context length (10)",
    ),
}


@pytest.mark.parametrize("dialect", SERVERS)
def test_a_request_that_is_longer_than_the_window_is_refused(dialect):
    make, path, body, told = SERVERS[dialect]
    with make() as server, httpx2.Client(base_url=server.url, headers=HEADERS) as client:
        assert client.post(path, json=body).status_code == 200
        server.window = Window(10, bytes_per_token=2)
        refused = client.post(path, json=body)
        server.window = Window(10_000)
        assert client.post(path, json=body).status_code == 200
    length = len(refused.request.content)
    assert refused.status_code == 400
    assert told.format(round(length / 2)) in refused.text
    assert len(server.refusals) == 1
