"""A server of one's own dialect is three methods, and has all that ours have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from amplifier_testing.servers import (
    Answer,
    Fault,
    ModelServer,
    Recorded,
    Refusal,
    SeenRequest,
    ServiceErrors,
    Stream,
    Window,
    encode_event,
)


class QuizServer(ModelServer):
    def judge_request(self, request: SeenRequest) -> Refusal | None:
        if request.path == "/quiz" and not (request.body or {}).get("question"):
            return Refusal(400, "invalid_request", "`question` must be a text")
        return None

    def respond(self, request: SeenRequest) -> dict[str, Any] | Stream | Recorded:
        answer = self.take_answer()
        if isinstance(answer, Recorded):
            return answer
        if request.body.get("stream"):
            return Stream([encode_event({"text": part}) for part in answer.fragments(answer.text)])
        return {"answer": answer.text}

    def write_error(self, refusal: Refusal, *, in_stream: bool) -> dict[str, Any]:
        return {"error": [refusal.kind, refusal.message]}


@pytest.fixture
def server() -> Iterator[QuizServer]:
    with QuizServer() as running:
        yield running


def ask(server: ModelServer, **fields: Any) -> httpx2.Response:
    return httpx2.post(f"{server.url}/quiz", json={"question": "Why?", **fields})


# Holds: provider-30
def test_three_methods_are_a_dialect() -> None:
    assert ModelServer.__abstractmethods__ == {"judge_request", "respond", "write_error"}


def test_it_answers_from_the_script_as_one_body_or_a_stream(server: QuizServer) -> None:
    server.answers = ["One.", Answer("Two.", fragment=2), Recorded(b"data: 3\n\n")]

    assert ask(server).json() == {"answer": "One."}
    assert ask(server, stream=True).text == 'data: {"text":"Tw"}\n\ndata: {"text":"o."}\n\n'
    assert ask(server).text == "data: 3\n\n"
    assert ask(server).json() == {"answer": "Hello! How can I help?"}
    assert server.refusals == []


def test_what_it_refuses_is_kept_and_takes_no_answer(server: QuizServer) -> None:
    server.answers = ["One."]

    refused = ask(server, question="")

    assert (refused.status_code, refused.json()) == (
        400,
        {"error": ["invalid_request", "`question` must be a text"]},
    )
    assert server.refusals == [Refusal(400, "invalid_request", "`question` must be a text")]
    assert server.answers == ["One."]


def test_faults_are_errors_of_the_dialect(server: QuizServer) -> None:
    server.faults = [Fault(status=429), Fault(error_after=1), Fault(status=529, message="Full")]

    assert ask(server).json() == {"error": ["too_many_requests", "Too Many Requests"]}
    assert ask(server, stream=True).text == (
        'data: {"text":"Hello! How c"}\n\n'
        'data: {"error":["internal_server_error","Internal Server Error"]}\n\n'
    )
    assert ask(server).json() == {"error": ["error", "Full"]}


def test_what_is_too_long_or_no_json_is_refused_without_a_line_of_its_own(
    server: QuizServer,
) -> None:
    server.window = Window(5, bytes_per_token=1)
    long = ask(server)
    broken = httpx2.post(f"{server.url}/quiz", content=b"{")

    assert (long.status_code, broken.status_code) == (400, 400)
    assert long.json()["error"][1].startswith("the request has ")
    assert broken.json()["error"][1].startswith("the body is not a JSON object: ")


def test_attributes_say_what_else_differs() -> None:
    class OtherServer(QuizServer):
        base_path = "/v2"
        id_header = "x-id"
        lookup_paths = ("/v2/quiz",)
        errors = ServiceErrors(of_status=lambda status: Refusal(status, "own", "Own"))

    with OtherServer(faults=[Fault(status=500)]) as server:
        looked_up = httpx2.post(f"{server.url}/quiz", json={"question": "Why?"})
        failed = httpx2.post(f"{server.url}/other", json={"question": "Why?"})

        assert server.url == f"{server.root}/v2"
        assert [request.path for request in server.lookups] == ["/v2/quiz"]
    assert looked_up.headers["x-id"] != failed.headers["x-id"]
    assert (failed.status_code, json.loads(failed.text)) == (500, {"error": ["own", "Own"]})


def test_an_error_without_a_body_names_the_method() -> None:
    class WrongServer(QuizServer):
        def write_error(self, refusal: Refusal, *, in_stream: bool) -> Any:
            return [b"no body"]

    with pytest.raises(TypeError, match="`write_error` returned a `list`"):
        WrongServer()._error_body(Refusal(400, "", ""))  # pyright: ignore[reportPrivateUsage]
