"""Ollama's server: what it answers, in its own dialect and in that of Chat Completions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from amplifier_testing.servers import (
    Answer,
    Block,
    Call,
    Declined,
    Fault,
    OllamaModel,
    OllamaServer,
    Recorded,
    RedactedThinking,
    Thinking,
    Usage,
)

HELLO = [{"role": "user", "content": "hi"}]
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    with OllamaServer() as running:
        yield running


def ask(server: OllamaServer, path: str = "/api/chat", **fields: Any) -> httpx2.Response:
    body = {"model": "qwen3:8b", "messages": HELLO, **fields}
    return httpx2.post(server.url + path, json=body)


def lines(response: httpx2.Response) -> list[Any]:
    return [json.loads(line) for line in response.text.splitlines()]


def test_an_answer_is_an_object_a_line_and_the_last_one_is_done(server: OllamaServer) -> None:
    server.answers = [Answer("one two three", usage=Usage(input=7, output=3), fragment=4)]
    response = ask(server)

    assert response.headers["content-type"] == "application/x-ndjson"
    *said, end = lines(response)
    assert [each["message"] for each in said] == [
        {"role": "assistant", "content": piece} for piece in ("one ", "two ", "thre", "e")
    ]
    assert {each["done"] for each in said} == {False}
    assert (end["done"], end["done_reason"], end["message"]["content"]) == (True, "stop", "")
    assert (end["prompt_eval_count"], end["eval_count"]) == (7, 3)


def test_thoughts_come_only_where_they_are_asked_for(server: OllamaServer) -> None:
    for think, expected in ((None, []), (False, []), (True, ["Hm."])):
        server.answers = [Answer(Thinking("Hm."), "Yes.")]
        said = [each["message"] for each in lines(ask(server, think=think))]
        assert [each["thinking"] for each in said if "thinking" in each] == expected


def test_a_call_comes_whole_without_an_id_and_stops_like_a_text(server: OllamaServer) -> None:
    server.answers = [Answer(Call("look", {"at": "a"}), Call("look", "no JSON", id="c1"))]
    first, second, end = lines(ask(server, tools=[TOOL]))
    called = {"function": {"name": "look", "arguments": {"at": "a"}}}
    assert first["message"]["tool_calls"] == [called]
    assert second["message"]["tool_calls"] == [
        {"id": "c1", "function": {"name": "look", "arguments": "no JSON"}}
    ]
    assert end["done_reason"] == "stop"


def test_an_answer_may_come_whole(server: OllamaServer) -> None:
    parts = (Thinking("Hm."), "Yes.", Call("look"), Declined(" No."), RedactedThinking())
    server.answers = [Answer(*parts, Block({"content": "!"}), stop="max_tokens")]
    response = ask(server, stream=False, think=True)
    assert response.headers["content-type"] == "application/json"
    answer = response.json()
    assert answer["message"] == {
        "role": "assistant", "content": "Yes. No.!", "thinking": "Hm.",
        "tool_calls": [{"function": {"name": "look", "arguments": {}}}],
    }  # fmt: skip
    assert (answer["done"], answer["done_reason"]) == (True, "length")


def test_a_recorded_body_is_sent_as_it_is(server: OllamaServer) -> None:
    body = b'{"message":{"content":"a"},"done":false}\n\n{"done":true}'
    server.answers = [Recorded(body, content_type="application/x-ndjson")]
    assert ask(server).content == body


def test_what_a_client_looks_up_takes_no_fault_and_is_kept_apart(server: OllamaServer) -> None:
    server.faults = [Fault(status=500, message="boom")]
    shown = httpx2.post(f"{server.url}/api/show", json={"model": "qwen3:8b"}).json()
    assert shown["capabilities"] == ["completion", "thinking", "tools"]
    assert shown["model_info"]["qwen3.context_length"] == 40_960
    assert httpx2.get(f"{server.url}/api/version").json() == {"version": "0.12.6"}
    assert [seen.path for seen in server.lookups] == ["/api/show", "/api/version"]
    assert ask(server).json() == {"error": "boom"}
    assert len(server.requests) == 1


def test_an_error_in_a_stream_is_a_line(server: OllamaServer) -> None:
    server.faults = [Fault(error_after=1, message="out of memory"), Fault(error_after=0, kind="x")]
    assert lines(ask(server))[-1] == {"error": "out of memory"}
    assert lines(ask(server))[-1]["error"]["type"] == "x"


def test_its_models_are_listed_and_others_can_be_pulled(server: OllamaServer) -> None:
    new = OllamaModel("new:latest")
    server.pullable = [new]
    assert ask(server, model="new").status_code == 404

    said = lines(httpx2.post(f"{server.url}/api/pull", json={"model": "new"}))
    unknown = lines(httpx2.post(f"{server.url}/api/pull", json={"model": "nobody"}))

    assert (said[0], said[-1]) == ({"status": "pulling manifest"}, {"status": "success"})
    assert said[1].keys() == {"status", "digest", "total"}
    assert unknown[-1] == {"error": "pull model manifest: file does not exist"}
    assert ask(server, model="new").status_code == 200
    listed = httpx2.get(f"{server.url}/api/tags").json()["models"]
    assert [each["name"] for each in listed] == [model.name for model in server.models]
    assert "new:latest" in {each["name"] for each in listed}
    assert httpx2.post(f"{server.url}/api/pull", json={"model": ""}).status_code == 400
    assert httpx2.post(f"{server.url}/api/show", json={"model": "nobody"}).status_code == 404


def test_it_speaks_chat_completions_too(server: OllamaServer) -> None:
    path = "/v1/chat/completions"
    server.answers = [Answer(Thinking("Hm."), "Yes.", Call("look")), "streamed"]
    whole = ask(server, path, reasoning_effort="low").json()
    message = whole["choices"][0]["message"]
    assert (message["content"], message["reasoning"]) == ("Yes.", "Hm.")
    assert message["tool_calls"][0]["id"].startswith("call_")
    assert ask(server, path, stream=True).text.endswith("data: [DONE]\n\n")
    for fields, said in (
        ({"model": "nobody"}, "model 'nobody' not found"),
        ({"reasoning_effort": "much"}, 'invalid reasoning value: "much"'),
        (
            {"reasoning_effort": "low", "model": "llama3.2"},
            '"llama3.2:latest" does not support thinking',
        ),
        ({"tools": [TOOL], "model": "gemma3:4b"}, '"gemma3:4b" does not support tools'),
        ({"messages": 1}, "Invalid type for 'messages': expected an array, but got an integer"),
    ):
        assert ask(server, path, **fields).json()["error"]["message"].startswith(said)
    server.faults = [Fault(error_after=0, kind="server_error")]
    assert '"type":"server_error"' in ask(server, path, stream=True).text


def test_another_place_and_a_body_that_is_no_json_are_refused(server: OllamaServer) -> None:
    assert httpx2.get(f"{server.url}/api/embed").json() == {"error": "404 page not found"}
    response = httpx2.post(f"{server.url}/api/chat", content=b"{oops")
    assert response.status_code == 400
    assert response.json()["error"].startswith("invalid character in the body")
    assert [refusal.status for refusal in server.refusals] == [404, 400]
