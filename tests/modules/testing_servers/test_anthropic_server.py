"""What the Anthropic server answers, and what becomes of it when it comes back."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import pytest

from amplifier_stream import StreamDecoder
from amplifier_testing.servers import (
    Answer,
    AnthropicServer,
    Block,
    Call,
    Declined,
    Recorded,
    RedactedThinking,
    Thinking,
    Usage,
)
from amplifier_testing.servers.serving.server import DEFAULT_ANSWER

Body = dict[str, Any]
HEADERS = {"x-api-key": "key", "anthropic-version": "2023-06-01"}
STREAMS = os.environ.get("RECORDED_STREAMS")
HELLO = {"role": "user", "content": "hi"}


def body(*messages: Body, **fields: Any) -> Body:
    return {"model": "claude-opus-4-6", "max_tokens": 2_000, "messages": [*messages], **fields}


def ask(server: AnthropicServer, *messages: Body, **fields: Any) -> httpx2.Response:
    given = body(*(messages or [HELLO]), **fields)
    return httpx2.post(f"{server.url}/v1/messages", headers=HEADERS, json=given)


def decode(response: httpx2.Response) -> Any:
    decoder = StreamDecoder("anthropic", response.status_code, dict(response.headers))
    decoder.feed(response.content)
    return decoder.finish()


def test_a_stream_says_what_the_script_says() -> None:
    look = Call("look", {"at": "é😀", "deep": {"list": [1, None]}}, id="toolu_a")
    usage = Usage(input=7, output=5, cache_read=3, cache_write=2, reasoning=4)
    answer = Answer(
        Thinking("Hm, é 😀."), RedactedThinking(), "Let me look.", look, Call("rest"), usage=usage
    )
    with AnthropicServer([answer]) as server:
        result = decode(ask(server, stream=True))

        assert (result.error, result.truncated, result.findings) == (None, False, [])
        assert result.stop_reason == "tool_use"
        assert [block["type"] for block in result.blocks] == [
            "thinking", "redacted_thinking", "text", "tool_call", "tool_call",
        ]  # fmt: skip
        thinking, hidden, text, called, rest = result.blocks
        assert thinking["thinking"] == "Hm, é 😀."
        assert thinking["signature"] == server.sign("Hm, é 😀.")
        assert hidden["data"] == server.redact("hidden")
        assert text["text"] == "Let me look."
        assert (called["id"], called["arguments"]) == ("toolu_a", look.arguments)
        assert (rest["name"], rest["arguments"]) == ("rest", {})
        assert result.usage == {
            "input_tokens": 7,
            "output_tokens": 5,
            "cache_read_tokens": 3,
            "cache_write_tokens": 2,
            "reasoning_tokens": 4,
        }
        assert result.request_id.startswith("req_")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer("x"), "end_turn"),
        (Answer("x", stop="max_tokens"), "max_tokens"),
        (Answer(Block({"type": "text", "text": "x", "citations": []}), stop="pause_turn"),
         "pause_turn"),
        (Answer(Declined("No.")), "refusal"),
    ],
)  # fmt: skip
def test_an_answer_stops_for_its_reason_in_a_stream_and_in_one_body(
    answer: Answer, reason: str
) -> None:
    with AnthropicServer([answer, answer]) as server:
        assert decode(ask(server, stream=True)).raw_stop_reason == reason
        assert ask(server).json()["stop_reason"] == reason


def test_a_script_that_is_over_says_a_short_text() -> None:
    with AnthropicServer(["first"]) as server:
        texts = [ask(server).json()["content"][0]["text"] for _ in range(3)]

    assert texts == ["first", DEFAULT_ANSWER, DEFAULT_ANSWER]


def test_arguments_that_are_no_json_are_sent_as_they_are() -> None:
    with AnthropicServer([Answer(Call("look", '{"at": '))]) as server:
        result = decode(ask(server, stream=True))

    assert result.blocks[0]["raw_arguments"] == '{"at": '
    assert result.blocks[0]["error"] is not None


def test_what_was_asked_and_what_was_refused_is_kept() -> None:
    with AnthropicServer() as server:
        ask(server)
        response = ask(server, max_tokens=0)

        assert [request.path for request in server.requests] == ["/v1/messages"] * 2
        assert server.requests[0].body == body(HELLO)
        assert server.requests[0].headers["x-api-key"] == "key"
        assert [refusal.message for refusal in server.refusals] == [
            "max_tokens: Input should be greater than or equal to 1"
        ]
        assert response.status_code == 400
        assert response.json() == {
            "type": "error",
            "error": {"type": "invalid_request_error", "message": server.refusals[0].message},
            "request_id": response.json()["request_id"],
        }


@pytest.mark.parametrize(
    ("method", "path", "content", "status", "message"),
    [
        ("POST", "/v1/messages", b"{", 400, "The request body is not valid JSON: Expecting"),
        ("POST", "/v1/messages", b'{"a": NaN}', 400, "The request body is not valid JSON: `NaN`"),
        ("POST", "/v1/messages", b'"\xff"', 400, "The request body is not valid JSON: invalid"),
        ("POST", "/v1/messages", b'{"a": "\\ud800"}', 400,
         "The request body is not valid JSON: a lone surrogate"),
        ("POST", "/v1/messages", b"[1]", 400, "The request body is not valid JSON: not an object"),
        ("POST", "/v1/messages", b"", 400, "model: Field required"),
        ("GET", "/v1/messages", b"", 405, "Method Not Allowed"),
        ("POST", "/v2/messages", b"{}", 404, "Not Found"),
    ],
)  # fmt: skip
def test_what_is_no_request_is_refused(
    method: str, path: str, content: bytes, status: int, message: str
) -> None:
    headers = {**HEADERS, "content-type": "application/json"}
    with AnthropicServer() as server:
        response = httpx2.request(method, server.url + path, headers=headers, content=content)

    assert response.status_code == status
    assert response.json()["error"]["message"].startswith(message)


def test_models_come_in_pages() -> None:
    with AnthropicServer() as server:
        names: list[str] = []
        last: str | None = None
        while True:
            query = {"limit": "10", **({"after_id": last} if last else {})}
            page = httpx2.get(f"{server.url}/v1/models", headers=HEADERS, params=query).json()
            names += [model["id"] for model in page["data"]]
            last = page["last_id"]
            if not page["has_more"]:
                break
        one = httpx2.get(f"{server.url}/v1/models/claude-sonnet-5", headers=HEADERS).json()
        none = httpx2.get(f"{server.url}/v1/models/none", headers=HEADERS)

    assert names == [model.name for model in server.models]
    assert (one["id"], one["max_tokens"]) == ("claude-sonnet-5", 128_000)
    assert none.status_code == 404


def test_two_servers_with_one_secret_sign_alike() -> None:
    assert AnthropicServer(secret=b"s").sign("x") == AnthropicServer(secret=b"s").sign("x")
    assert AnthropicServer().sign("x") != AnthropicServer().sign("x")


def test_a_turn_with_thoughts_and_calls_is_taken_back_and_a_changed_one_is_not() -> None:
    script = [Answer(Thinking("Hm"), "Look.", Call("look", {"a": 1})), "Done."]
    with AnthropicServer(script) as server:
        options: Body = {
            "tools": [{"name": "look", "input_schema": {"type": "object"}}],
            "thinking": {"type": "adaptive"},
        }
        content = ask(server, **options).json()["content"]
        results = [{"type": "tool_result", "tool_use_id": content[-1]["id"], "content": "x"}]
        answered = {"role": "user", "content": results}

        def replay(*blocks: Body) -> int:
            turn = {"role": "assistant", "content": list(blocks)}
            return ask(server, HELLO, turn, answered, **options).status_code

        assert replay(*content) == 200
        assert replay({**content[0], "thinking": "Hm."}, *content[1:]) == 400
        assert replay({**content[0], "signature": ""}, *content[1:]) == 400
        assert replay(*content[1:]) == 400
        assert replay(content[1], content[0], content[2]) == 400


def test_the_official_client_reads_the_answers_and_sends_them_back() -> None:
    script = [Answer(Thinking("Hm"), "Look.", Call("look", {"a": "é"}), Call("rest")), "Done."]
    with AnthropicServer(script) as server:
        client = anthropic.Anthropic(base_url=server.url, api_key="key", max_retries=0)
        options: Body = {
            "model": "claude-sonnet-5",
            "max_tokens": 2_000,
            "thinking": {"type": "adaptive"},
            "tools": [
                {"name": name, "input_schema": {"type": "object"}} for name in ("look", "rest")
            ],
        }
        with client.messages.stream(messages=[HELLO], **options) as stream:  # pyright: ignore
            message = stream.get_final_message()
        content = [block.to_dict() for block in message.content]
        results = [
            {"type": "tool_result", "tool_use_id": block["id"], "content": "x"}
            for block in content
            if block["type"] == "tool_use"
        ]
        turns = [HELLO, {"role": "assistant", "content": content}]
        turns.append({"role": "user", "content": results})
        last = client.messages.create(messages=turns, **options)  # pyright: ignore
        models = [model.id for model in client.models.list(limit=7)]
        client.close()

        assert server.refusals == []
    assert [block["type"] for block in content] == ["thinking", "text", "tool_use", "tool_use"]
    assert [block["input"] for block in content[2:]] == [{"a": "é"}, {}]
    assert last.content[0].to_dict()["text"] == "Done."
    assert models == [model.name for model in server.models]


@pytest.mark.skipif(not STREAMS, reason="`RECORDED_STREAMS` is not set")
def test_recorded_answers_are_taken_back_as_they_came() -> None:
    folder = Path(STREAMS or "")
    rows = [line.split("\t") for line in (folder / "index.tsv").read_text().splitlines()[1:]]
    names = [row[0] for row in rows if row[2] == "anthropic" and row[4] == "200"]
    seen = 0
    for name in names:
        expected = json.loads((folder / name).with_suffix(".expected.json").read_text())
        content = (expected["expected"].get("message") or {}).get("content", [])
        if not expected["expected"].get("complete") or not content:
            continue
        with AnthropicServer([Recorded(folder / name)]) as server:
            ask(server, stream=True)
            turns = [HELLO, {"role": "assistant", "content": content}]
            after = [*_results(content), {"type": "text", "text": "go on"}]
            turns.append({"role": "user", "content": after})
            given = body(*turns)
            assert server.judge(given) is None, name
            for block in content:
                if block["type"] == "thinking":
                    block["thinking"] += "."
                    assert server.judge(given) is not None
            seen += 1
    assert seen > 5


def _results(content: list[Body]) -> list[Body]:
    return [
        {"type": "tool_result", "tool_use_id": block["id"], "content": "x"}
        for block in content
        if block["type"] == "tool_use"
    ]
