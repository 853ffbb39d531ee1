"""Ollama's `/api/generate`: an answer to a prompt, streamed or whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import ollama
import pytest

from amplifier_testing.servers import (
    Answer,
    Call,
    Fault,
    OllamaModel,
    OllamaServer,
    Thinking,
    Usage,
)


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    with OllamaServer() as running:
        yield running


def ask(server: OllamaServer, **fields: Any) -> httpx2.Response:
    body = {"model": "qwen3:8b", "prompt": "hi", **fields}
    return httpx2.post(f"{server.url}/api/generate", json=body)


ANSWER = Answer(Thinking("Hm."), "one two three", usage=Usage(input=7, output=3), fragment=4)
END = {
    "model": "qwen3:8b",
    "created_at": "2026-01-01T00:00:00.123456789Z",
    "response": "",
    "done": True,
    "done_reason": "stop",
    "context": [151_644, 872, 198],
    "total_duration": 1_897_385_625,
    "load_duration": 1_631_208,
    "prompt_eval_count": 7,
    "eval_count": 3,
    "prompt_eval_duration": 313_560_000,
    "eval_duration": 1_577_990_000,
}


def test_a_stream_is_an_object_a_line_and_the_last_one_is_done(server: OllamaServer) -> None:
    server.answers = [ANSWER]
    response = ask(server)

    assert response.headers["content-type"] == "application/x-ndjson"
    *said, end = (json.loads(line) for line in response.text.splitlines())
    line = {key: END[key] for key in ("model", "created_at")} | {"done": False}
    assert said == [{**line, "response": piece} for piece in ("one ", "two ", "thre", "e")]
    assert end == END


def test_without_a_stream_it_is_one_object_with_its_thoughts(server: OllamaServer) -> None:
    server.answers = [ANSWER, ANSWER]

    assert ask(server, stream=False).json() == {**END, "response": "one two three"}
    thinking = ask(server, stream=False, think=True).json()
    assert thinking == {**END, "response": "one two three", "thinking": "Hm."}


@pytest.mark.parametrize(("keep_alive", "reason"), [("5m", "load"), (0, "unload")])
def test_a_request_without_a_prompt_only_loads_the_model(
    server: OllamaServer, keep_alive: Any, reason: str
) -> None:
    server.answers = ["One."]

    assert ask(server, prompt="", keep_alive=keep_alive).json() == {
        **{key: END[key] for key in ("model", "created_at", "response", "done")},
        "done_reason": reason,
    }
    assert server.answers == ["One."]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"model": "nobody"}, "model 'nobody' not found"),
        ({"model": "nomic-embed-text"}, "does not support generate"),
        ({"prompt": 3}, "cannot unmarshal integer into Go struct field GenerateRequest.prompt"),
        ({"suffix": "}"}, "does not support insert"),
        ({"raw": True, "system": "x"}, "raw mode does not support template, system, or context"),
        ({"think": "maximal"}, "invalid think value"),
        ({"model": "llama3.2", "think": True}, "does not support thinking"),
        ({"images": ["aGk="]}, "does not support image input"),
        ({"options": {"num_ctx": "many"}}, 'option "num_ctx" must be of type integer'),
        ({"keep_alive": "soon"}, "invalid duration"),
        ({"format": "xml"}, "invalid format"),
    ],
)
def test_a_rule_is_kept(server: OllamaServer, fields: dict[str, Any], said: str) -> None:
    response = ask(server, **fields)

    assert response.status_code >= 400
    assert said in response.json()["error"]
    assert [each.message for each in server.refusals] == [response.json()["error"]]


def test_what_it_takes_besides(server: OllamaServer) -> None:
    server.models.append(OllamaModel("coder:1b", capabilities=frozenset({"completion", "insert"})))
    taken = [
        {"model": "coder:1b", "suffix": "}"},
        {"system": "x", "template": "{{ .Prompt }}", "context": [1]},
        {"raw": True},
        {"format": {"type": "object"}, "options": {"temperature": 0.5}, "unheard_of": 1},
    ]

    assert [ask(server, stream=False, **each).status_code for each in taken] == [200] * len(taken)
    assert server.refusals == []


def test_faults_and_keys_are_those_of_any_request() -> None:
    with OllamaServer(api_key="k", faults=[Fault(status=503)]) as server:
        assert ask(server).status_code == 401
        headers = {"authorization": "Bearer k"}
        with ollama.Client(host=server.url, headers=headers) as client:
            with pytest.raises(ollama.ResponseError, match="server busy"):
                client.generate("qwen3:8b", "hi")
            assert client.generate("qwen3:8b", "hi").response == "Hello! How can I help?"


def test_a_script_with_a_call_has_no_form_here(server: OllamaServer) -> None:
    server.answers = [Answer(Call("look"))]

    assert "the script has a call" in ask(server).json()["error"]


def test_the_official_client_reads_it(server: OllamaServer) -> None:
    server.answers = [ANSWER, ANSWER]
    with ollama.Client(host=server.url) as client:
        assert client.generate("qwen3:8b", "hi").response == "one two three"
        pieces = client.generate("qwen3:8b", "hi", stream=True)
        assert [piece.response for piece in pieces] == ["one ", "two ", "thre", "e", ""]


def test_older_clients_name_the_model_otherwise(server: OllamaServer) -> None:
    shown = httpx2.post(f"{server.url}/api/show", json={"name": "qwen3:8b"})

    assert shown.status_code == 200
