"""A server that sends one JSON object although a stream was asked for is read all the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
from services import REQUEST, SERVICES, Service, provider_of

from amplifier_core import ChatResponse, llm_errors
from amplifier_testing.servers.serving.http import Reply
from amplifier_testing.servers.serving.recording import RecordingServer

MESSAGE = {"type": "message", "role": "assistant"}
ANSWERS: dict[str, dict[str, Any]] = {
    "/v1/messages": {
        **MESSAGE,
        "id": "msg_1",
        "model": "claude-opus-4-6",
        "content": [{"type": "text", "text": "Hello"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 9, "output_tokens": 1},
    },
    "/responses": {
        "id": "resp_1",
        "object": "response",
        "model": "gpt-5.5",
        "status": "completed",
        "output": [{**MESSAGE, "content": [{"type": "output_text", "text": "Hello"}]}],
        "usage": {"input_tokens": 9, "output_tokens": 1, "total_tokens": 10},
    },
    "/chat/completions": {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "gpt-4.1",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Hello"},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10},
    },
    "/api/chat": {
        "model": "qwen3:8b",
        "message": {"role": "assistant", "content": "Hello"},
        "done": True,
        "done_reason": "stop",
        "prompt_eval_count": 9,
        "eval_count": 1,
    },
}
"""The same answer by the path of its API."""


async def ask(service: Service, server: RecordingServer, body: bytes) -> ChatResponse:
    """Ask a server that sends this body, whatever was asked for."""
    server.respond(Reply.of(body, "application/json"), service.path)
    async with provider_of(service, server.url) as provider:
        return await provider.complete(REQUEST)


async def test_one_object_in_place_of_a_stream_is_the_answer(
    service: Service, http_server: RecordingServer
) -> None:
    response = await ask(service, http_server, json.dumps(ANSWERS[service.path]).encode())

    assert response.usage is not None
    assert (response.text, response.finish_reason, response.usage.total_tokens) == (
        "Hello",
        "end_turn",
        10,
    )


async def test_one_object_that_is_broken_off_is_no_answer(
    service: Service, http_server: RecordingServer
) -> None:
    body = json.dumps(ANSWERS[service.path]).encode()

    with pytest.raises(llm_errors.LLMError):
        await ask(service, http_server, body[:-9])


@pytest.mark.parametrize("status", ["queued", "in_progress"])
async def test_a_response_that_is_not_done_says_its_status(
    status: str, http_server: RecordingServer
) -> None:
    service = SERVICES["openai"]
    body = ANSWERS[service.path] | {"status": status, "output": [], "usage": None}

    with pytest.raises(llm_errors.StreamError) as caught:
        await ask(service, http_server, json.dumps(body).encode())

    expected = f"the answer of `gpt-5.5` was cut off: its status is `{status}`"
    assert str(caught.value).startswith(expected)
