"""The official SDKs read refusals as `decode_error` does."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_stream import decode_error
from amplifier_testing.servers.serving.http import Reply
from amplifier_testing.servers.serving.recording import RecordingServer

Refuse = Callable[[int, bytes], None]

STATUSES = st.sampled_from([400, 401, 403, 404, 409, 413, 422, 429, 500, 503, 529])
WORDS = st.sampled_from(["invalid_request_error", "tokens", "overloaded_error", "brand_new"])
ERRORS = st.fixed_dictionaries(
    {"type": WORDS, "message": st.text(st.characters(codec="utf-8"), min_size=1, max_size=40)},
    optional={"code": WORDS | st.none(), "param": WORDS | st.none()},
)
MESSAGES: Any = [{"role": "user", "content": "Go"}]


@pytest.fixture(scope="module")
def server() -> Iterator[RecordingServer]:
    with RecordingServer() as running:
        yield running


@pytest.fixture(scope="module")
def url(server: RecordingServer) -> str:
    return server.url


@pytest.fixture(scope="module")
def refuse(server: RecordingServer) -> Refuse:
    """Answer every request with this status and this body."""

    def answer(status: int, body: bytes) -> None:
        headers = {"request-id": "req_1", "x-request-id": "req_1"}
        headers["content-type"] = "application/json"
        server.respond(Reply(status, headers, [body], is_whole=True))

    return answer


@settings(max_examples=30)
@given(status=STATUSES, error=ERRORS)
def test_anthropic_refusals_are_read_as_by_their_sdk(
    url: str, refuse: Refuse, status: int, error: dict[str, Any]
) -> None:
    import anthropic

    body = json.dumps({"type": "error", "error": error}).encode()
    refuse(status, body)
    with (
        anthropic.Anthropic(api_key="k", base_url=url, max_retries=0) as client,
        pytest.raises(anthropic.APIStatusError) as caught,
    ):
        client.messages.create(model="c", max_tokens=9, messages=MESSAGES)
    ours = decode_error("anthropic", status, {"request-id": "req_1"}, body)
    theirs: Any = caught.value.body
    assert (ours["status"], ours["request_id"]) == (
        caught.value.status_code,
        caught.value.request_id,
    )
    assert (ours["type"], ours["message"]) == (theirs["error"]["type"], theirs["error"]["message"])


@settings(max_examples=30)
@given(status=STATUSES, error=ERRORS)
def test_openai_refusals_are_read_as_by_their_sdk(
    url: str, refuse: Refuse, status: int, error: dict[str, Any]
) -> None:
    import openai

    body = json.dumps({"error": error}).encode()
    refuse(status, body)
    with (
        openai.OpenAI(api_key="k", base_url=url, max_retries=0) as client,
        pytest.raises(openai.APIStatusError) as caught,
    ):
        client.responses.create(model="g", input="Go")
    theirs = caught.value
    for dialect in ("responses", "chat"):
        ours = decode_error(dialect, status, {"x-request-id": "req_1"}, body)
        assert (ours["type"], ours["code"]) == (theirs.type, theirs.code)
        assert (ours["status"], ours["request_id"]) == (theirs.status_code, theirs.request_id)
        assert ours["message"] == error["message"]
        assert ours.get("details", {}).get("param") == theirs.param


@settings(max_examples=30)
@given(status=STATUSES, message=st.text(st.characters(codec="utf-8"), min_size=1))
def test_ollama_refusals_are_read_as_by_their_client(
    url: str, refuse: Refuse, status: int, message: str
) -> None:
    import ollama

    body = json.dumps({"error": message}).encode()
    refuse(status, body)
    with ollama.Client(url) as client, pytest.raises(ollama.ResponseError) as caught:
        client.chat("l", MESSAGES)
    ours = decode_error("ollama", status, None, body)
    assert (ours["status"], ours["message"]) == (caught.value.status_code, caught.value.error)
