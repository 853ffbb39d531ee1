"""Errors of each dialect, as our decoder reads them."""

from __future__ import annotations

import contextlib
from typing import Any

import httpx2
import pytest

from amplifier_stream import StreamDecoder, decode_error
from amplifier_testing.servers import (
    AnthropicServer,
    ChatServer,
    Fault,
    ModelServer,
    OllamaServer,
    ResponsesServer,
)

HELLO = [{"role": "user", "content": "hi"}]
KEYS = {"x-api-key": "k", "authorization": "Bearer k", "anthropic-version": "2023-06-01"}
DIALECTS: dict[str, tuple[type[ModelServer], str, dict[str, Any]]] = {
    "anthropic": (
        AnthropicServer,
        "/v1/messages",
        {"model": "claude-sonnet-5", "max_tokens": 9, "messages": HELLO},
    ),
    "responses": (ResponsesServer, "/responses", {"model": "gpt-5", "input": "hi"}),
    "chat": (ChatServer, "/chat/completions", {"model": "gpt-5", "messages": HELLO}),
    "ollama": (OllamaServer, "/api/chat", {"model": "qwen3:8b", "messages": HELLO}),
}
STATUSES = (401, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504, 529)


@pytest.fixture(scope="module", params=DIALECTS)
def dialect(request: pytest.FixtureRequest) -> Any:
    kind, path, body = DIALECTS[request.param]
    with kind() as server, httpx2.Client(headers=KEYS) as client:
        yield request.param, server, lambda: client.post(server.url + path, json=body)


@pytest.mark.parametrize("status", STATUSES)
def test_an_error_says_its_type_its_message_and_when_to_come_back(
    dialect: Any, status: int
) -> None:
    name, server, ask = dialect
    server.faults = [Fault(status=status, headers={"retry-after": "2"}, message="No luck")]

    response = ask()
    error = decode_error(name, response.status_code, dict(response.headers), response.content)

    assert (error["status"], error["message"], error["retry_after"]) == (status, "No luck", 2.0)
    assert error["type"]
    assert ask().status_code == 200


def receive(client: httpx2.Client, address: str, body: dict[str, Any]) -> bytes:
    received = bytearray()
    with (
        contextlib.suppress(httpx2.RemoteProtocolError),
        client.stream("POST", address, json={**body, "stream": True}) as response,
    ):
        for chunk in response.iter_raw():
            received.extend(chunk)
    return bytes(received)


@pytest.mark.parametrize("fault", [Fault(cut=400), Fault(error_after=3), Fault(malformed=3)])
@pytest.mark.parametrize("name", DIALECTS)
def test_a_damaged_stream_is_seen_by_the_decoder(name: str, fault: Fault) -> None:
    kind, path, body = DIALECTS[name]
    with kind(faults=[fault]) as server, httpx2.Client(headers=KEYS) as client:
        damaged, whole = (receive(client, server.url + path, body) for _ in range(2))
    results: list[Any] = []
    for received in (damaged, whole):
        decoder = StreamDecoder(name, 200, {"content-type": "text/event-stream"})  # pyright: ignore
        decoder.feed(received)
        results.append(decoder.finish())
    bad, good = results

    assert (good.error, good.truncated, good.findings) == (None, False, [])
    assert bad.error or bad.truncated or bad.findings
