"""What the Chat Completions server answers, and what becomes of it when it comes back."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest

from amplifier_stream import StreamDecoder
from amplifier_testing.servers import (
    Answer,
    Block,
    Call,
    ChatServer,
    Declined,
    Fault,
    Recorded,
    RedactedThinking,
    Thinking,
    Usage,
)

Body = dict[str, Any]
HEADERS = {"authorization": "Bearer key"}
STREAMS = os.environ.get("RECORDED_STREAMS")
HELLO = {"role": "user", "content": "hi"}
TOOLS = [{"type": "function", "function": {"name": name}} for name in ("look", "rest")]
VERSION = "?api-version=2024-10-21"


def body(*messages: Any, **fields: Any) -> Body:
    return {"model": "gpt-5", "messages": [*(messages or [HELLO])], **fields}


def ask(server: ChatServer, *messages: Any, **fields: Any) -> httpx2.Response:
    url = f"{server.url}/chat/completions"
    return httpx2.post(url, headers=HEADERS, json=body(*messages, **fields))


def stream(server: ChatServer, *messages: Any, **fields: Any) -> Any:
    options = {"stream": True, "stream_options": {"include_usage": True}}
    return decode(ask(server, *messages, **options, **fields))


def decode(response: httpx2.Response) -> Any:
    decoder = StreamDecoder("chat", response.status_code, dict(response.headers))
    decoder.feed(response.content)
    return decoder.finish()


def results(message: Body) -> list[Body]:
    return [
        {"role": "tool", "tool_call_id": call["id"], "content": "x"}
        for call in message.get("tool_calls") or []
    ]


def test_a_stream_says_what_the_script_says() -> None:
    look = Call("look", {"at": "é😀", "deep": {"list": [1, None]}}, id="call_a")
    usage = Usage(input=7, output=5, cache_read=3, reasoning=4)
    answer = Answer(Thinking("Hm"), "Let me look, é 😀.", look, Call("rest"), usage=usage)
    with ChatServer([answer]) as server:
        result = stream(server)

    assert (result.error, result.truncated, result.findings) == (None, False, [])
    assert (result.stop_reason, result.raw_stop_reason) == ("tool_use", "tool_calls")
    assert [block["type"] for block in result.blocks] == ["text", "tool_call", "tool_call"]
    text, called, rest = result.blocks
    assert text["text"] == "Let me look, é 😀."
    assert (called["id"], called["arguments"]) == ("call_a", look.arguments)
    assert (rest["name"], rest["arguments"]) == ("rest", {})
    assert result.usage["input_tokens"] == 7
    assert result.usage["cache_read_tokens"] == 3
    assert result.usage["output_tokens"] == 5
    assert result.usage["reasoning_tokens"] == 4


@pytest.mark.parametrize("preset", ["deepseek", "openrouter", "mistral", "template"])
def test_each_vendor_has_its_place_for_reasoning(preset: str) -> None:
    answer = Answer(Thinking("Hm, é."), "Done.", Call("look"))
    with ChatServer([answer, answer], preset=preset) as server:
        result = stream(server)
        message = ask(server).json()["choices"][0]["message"]

    assert [block["type"] for block in result.blocks] == ["thinking", "text", "tool_call"]
    assert result.blocks[0]["thinking"] == "Hm, é."
    assert result.blocks[1]["text"] == "Done."
    written = json.dumps(message, ensure_ascii=False)
    assert "Hm, é." in written
    assert "Done." in written


@pytest.mark.parametrize(
    ("answer", "finish", "reason"),
    [
        (Answer("x"), "stop", "end_turn"),
        (Answer("x", stop="length"), "length", "max_tokens"),
        (Answer("x", stop="content_filter"), "content_filter", "content_filter"),
        (Answer(Declined("No.")), "stop", "refusal"),
    ],
)
def test_an_answer_stops_for_its_reason_in_a_stream_and_in_one_body(
    answer: Answer, finish: str, reason: str
) -> None:
    with ChatServer([answer, answer]) as server:
        assert stream(server).stop_reason == reason
        assert ask(server).json()["choices"][0]["finish_reason"] == finish


def test_usage_comes_only_where_it_is_asked_for() -> None:
    with ChatServer() as server:
        plain = ask(server, stream=True).text
        counted = ask(server, stream=True, stream_options={"include_usage": True}).text

    assert "usage" not in plain
    assert counted.count('"usage":null') == counted.count("data: ") - 2
    assert plain.endswith("data: [DONE]\n\n")


def test_fields_of_a_vendor_are_sent_as_they_are() -> None:
    with ChatServer([Answer(Block({"reasoning_content": "own"}), "x")] * 2) as server:
        assert '"reasoning_content":"own"' in ask(server, stream=True).text
        assert ask(server).json()["choices"][0]["message"]["reasoning_content"] == "own"


@pytest.mark.parametrize("preset", ["openai", "mistral", "deepseek", "openrouter", "template"])
def test_a_turn_is_taken_back_as_it_came(preset: str) -> None:
    script = [Answer(Thinking("Hm"), RedactedThinking(), "Look.", Call("look", {"a": 1})), "Done."]
    with ChatServer(script, preset=preset) as server:
        options: Body = {"tools": TOOLS}
        message = ask(server, **options).json()["choices"][0]["message"]
        if preset != "openai":  # who answer with the fields of OpenAI and do not all take them
            message.pop("annotations")
        turn = body(HELLO, message, *results(message), **options)

        assert server.judge(turn) is None
        assert server.judge(body(HELLO, message, **options)) is not None


def test_reasoning_of_deepseek_comes_back_to_the_letter() -> None:
    with ChatServer([Answer(Thinking("Hm"), Call("look"))], preset="deepseek") as server:
        message = ask(server).json()["choices"][0]["message"]
        answers = results(message)

        assert server.judge(body(HELLO, message, *answers)) is None
        assert server.judge(body(HELLO, {**message, "reasoning_content": "H"}, *answers))
        del message["reasoning_content"]
        assert server.judge(body(HELLO, message, *answers))


def test_signed_reasoning_of_openrouter_comes_back_to_the_letter() -> None:
    with ChatServer([Answer(Thinking("Hm"), Call("look"))], preset="openrouter") as server:
        message = ask(server).json()["choices"][0]["message"]
        answers = results(message)

        assert server.judge(body(HELLO, message, *answers)) is None
        message["reasoning_details"][0]["text"] += "."
        assert server.judge(body(HELLO, message, *answers))


def test_ids_of_calls_are_in_the_form_of_the_vendor() -> None:
    with ChatServer([Answer(Call("look"), Call("rest"))], preset="mistral") as server:
        calls = ask(server).json()["choices"][0]["message"]["tool_calls"]

    assert [len(call["id"]) for call in calls] == [9, 9]
    assert all(call["id"].isalnum() for call in calls)


def test_errors_of_mistral_are_flat() -> None:
    with ChatServer(preset="mistral") as server:
        error = ask(server, max_tokens=0).json()

    assert error["object"] == "error"
    assert error["message"].startswith("Invalid 'max_tokens'")


def azure(server: ChatServer, path: str, **fields: Any) -> httpx2.Response:
    given = body(**fields)
    return httpx2.post(f"{server.azure_url}/openai/{path}", headers={"api-key": "key"}, json=given)


def test_azure_has_its_own_addresses_keys_and_deployments() -> None:
    path = "deployments/mine/chat/completions"
    with ChatServer(api_key="key", deployments={"mine": "gpt-4o"}) as server:
        assert azure(server, path + VERSION).status_code == 200
        assert azure(server, "v1/chat/completions", model="mine").status_code == 200
        assert azure(server, path).json()["error"]["message"] == "Resource not found"
        missing = azure(server, "deployments/other/chat/completions" + VERSION)
        assert missing.status_code == 404
        assert missing.json()["error"]["code"] == "DeploymentNotFound"
        url = f"{server.azure_url}/openai/{path}{VERSION}"
        assert httpx2.post(url, headers=HEADERS, json=body()).status_code == 200
        refused = httpx2.post(url, headers={"api-key": "no"}, json=body())
        assert (refused.status_code, refused.json()["error"]["code"]) == (401, "401")


def test_a_stream_of_azure_begins_with_what_its_filter_found() -> None:
    path = f"deployments/mine/chat/completions{VERSION}"
    with ChatServer(["Hello"], deployments={"mine": "gpt-4o"}) as server:
        response = azure(server, path, stream=True)
    first = json.loads(response.text.split("\n\n")[0][6:])

    assert (first["choices"], first["model"]) == ([], "")
    assert "prompt_filter_results" in first
    assert decode(response).blocks[0]["text"] == "Hello"


def test_models_are_listed() -> None:
    with ChatServer() as server:
        listed = httpx2.get(f"{server.url}/models", headers=HEADERS).json()["data"]
        one = httpx2.get(f"{server.url}/models/gpt-5", headers=HEADERS)
        none = httpx2.get(f"{server.url}/models/none", headers=HEADERS)
        nowhere = httpx2.get(f"{server.url}/other", headers=HEADERS)

    assert [model["id"] for model in listed] == [model.name for model in server.models]
    assert [reply.status_code for reply in (one, none, nowhere)] == [200, 404, 404]


def test_an_error_may_come_in_the_stream() -> None:
    fault = Fault(error_after=2, code="rate_limit_exceeded", message="Slow down")
    with ChatServer(faults=[fault]) as server:
        result = stream(server)

    assert result.error is not None
    assert result.error["message"] == "Slow down"


def test_the_official_client_reads_the_answers_and_sends_them_back() -> None:
    script = [Answer("Look.", Call("look", {"a": "é"}), Call("rest")), "Done."]
    with ChatServer(script, faults=[Fault(status=503)]) as server:
        client = openai.OpenAI(base_url=server.url, api_key="key", max_retries=0)
        options: Body = {"model": "gpt-5", "tools": TOOLS}
        with pytest.raises(openai.InternalServerError):
            client.chat.completions.create(messages=[HELLO], **options)  # pyright: ignore
        with client.chat.completions.stream(messages=[HELLO], **options) as events:  # pyright: ignore
            message = events.get_final_completion().choices[0].message.to_dict()
        message.pop("parsed", None)
        for call in message["tool_calls"]:  # what the client adds  # pyright: ignore
            call["function"].pop("parsed_arguments", None)
            call.pop("index", None)
        last = client.chat.completions.create(
            messages=[HELLO, message, *results(message)],  # pyright: ignore
            **options,
        )
        client.close()

        assert server.refusals == []
    assert message["content"] == "Look."
    assert [call["function"]["name"] for call in message["tool_calls"]] == ["look", "rest"]  # pyright: ignore
    assert last.choices[0].message.content == "Done."


def test_the_official_client_of_azure_finds_its_address() -> None:
    with ChatServer(["Hello"], api_key="key", deployments={"mine": "gpt-4o"}) as server:
        client = openai.AzureOpenAI(
            azure_endpoint=server.azure_url, api_key="key", api_version="2024-10-21"
        )
        answer = client.chat.completions.create(model="mine", messages=[HELLO])  # pyright: ignore
        client.close()

    assert answer.choices[0].message.content == "Hello"


@pytest.mark.skipif(not STREAMS, reason="`RECORDED_STREAMS` is not set")
def test_recorded_answers_are_taken_back_as_they_came() -> None:
    folder = Path(STREAMS or "")
    rows = [line.split("\t") for line in (folder / "index.tsv").read_text().splitlines()[1:]]
    names = [row[0] for row in rows if row[3] == "chat" and row[4] == "200"]
    seen = 0
    for name in names:
        preset = "deepseek" if name.startswith("deepseek") else "openai"
        with ChatServer([Recorded(folder / name)], preset=preset) as server:
            result = decode(ask(server, stream=True))
            calls = [
                {
                    "id": block["id"],
                    "type": "function",
                    "function": {
                        "name": block["name"],
                        "arguments": block["raw_arguments"] or "{}",
                    },
                }
                for block in result.blocks
                if block["type"] == "tool_call"
            ]
            parts = {
                kind: "".join(b[kind] for b in result.blocks if b["type"] == kind)
                for kind in ("text", "thinking")
            }
            message: Body = {"role": "assistant", "content": parts["text"] or None}
            if calls:
                message["tool_calls"] = calls
            if preset == "deepseek":
                message["reasoning_content"] = parts["thinking"]
            given = body(HELLO, message, *results(message))
            assert server.judge(given) is None, name
            if calls and preset == "deepseek":
                message["reasoning_content"] += "."
                assert server.judge(given) is not None
            seen += 1
    assert seen > 3
