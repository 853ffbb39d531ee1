"""The demo model speaks the Anthropic Messages wire, errors included."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest

from amplifier_app.demo_model import DemoModel

TOOLS = [
    {"name": name, "input_schema": {"type": "object"}}
    for name in ("list_directory", "glob", "grep", "read_file")
]
THINKING = {"type": "enabled", "budget_tokens": 2_000}
USER = {"role": "user", "content": "Give me a tour"}


@pytest.fixture
def demo() -> Iterator[DemoModel]:
    with DemoModel(pace=0) as running:
        yield running


@pytest.fixture
def client(demo: DemoModel) -> Iterator[httpx2.Client]:
    headers = {"x-api-key": demo.api_key, "anthropic-version": "2023-06-01"}
    with httpx2.Client(base_url=demo.url, headers=headers, trust_env=False) as opened:
        yield opened


def body(**changes: Any) -> dict[str, Any]:
    whole = {
        "model": "any",
        "max_tokens": 4_000,
        "messages": [USER],
        "tools": TOOLS,
        "thinking": THINKING,
        **changes,
    }
    return {key: value for key, value in whole.items() if value is not None}


def results_for(message: dict[str, Any], content: str = "denied") -> dict[str, Any]:
    return {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": block["id"], "content": content}
            for block in message["content"]
            if block["type"] == "tool_use"
        ],
    }


def events_of(stream: bytes) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    for frame in stream.decode().removesuffix("\n\n").split("\n\n"):
        name, data = frame.split("\n")
        event = json.loads(data.removeprefix("data: "))
        assert name == f"event: {event['type']}"
        events.append(event)
    return events


def fold(events: list[dict[str, Any]]) -> dict[str, Any]:
    message: dict[str, Any] = {}
    written: dict[int, str] = {}
    for event in events:
        match event["type"]:
            case "message_start":
                message = event["message"]
            case "content_block_start":
                assert event["index"] == len(message["content"])
                message["content"].append(event["content_block"])
            case "content_block_delta":
                block = message["content"][event["index"]]
                delta = dict(event["delta"])
                match delta.pop("type"):
                    case "input_json_delta":
                        previous = written.get(event["index"], "")
                        written[event["index"]] = previous + delta["partial_json"]
                    case _:
                        ((key, value),) = delta.items()
                        block[key] += value
            case "content_block_stop" if event["index"] in written:
                message["content"][event["index"]]["input"] = json.loads(written[event["index"]])
            case "message_delta":
                message |= event["delta"] | {"usage": message["usage"] | event["usage"]}
            case _:
                pass
    return message


def without_ids(message: dict[str, Any]) -> dict[str, Any]:
    content = [
        {key: value for key, value in block.items() if key != "id"} for block in message["content"]
    ]
    return {key: value for key, value in message.items() if key != "id"} | {"content": content}


def test_a_stream_builds_up_the_same_message_as_the_answer_without_a_stream(
    client: httpx2.Client,
) -> None:
    whole = client.post("/v1/messages", json=body()).json()
    streamed = client.post("/v1/messages", json=body(stream=True))

    assert streamed.headers["content-type"].startswith("text/event-stream")
    assert streamed.headers["request-id"].startswith("req_")
    folded = fold(events_of(streamed.content))
    size = whole["usage"]["input_tokens"]
    assert folded["usage"]["input_tokens"] >= size
    folded["usage"]["input_tokens"] = size
    assert without_ids(folded) == without_ids(whole)


def test_a_stream_has_every_kind_of_event(client: httpx2.Client) -> None:
    events = events_of(client.post("/v1/messages", json=body(stream=True)).content)

    kinds = [event["type"] for event in events]
    assert kinds[:2] == ["message_start", "ping"]
    assert kinds[-2:] == ["message_delta", "message_stop"]
    deltas = {event["delta"]["type"] for event in events if event["type"] == "content_block_delta"}
    assert deltas == {"thinking_delta", "signature_delta", "input_json_delta"}
    assert events[-2]["delta"]["stop_reason"] == "tool_use"
    calls = [
        event["content_block"]["name"]
        for event in events
        if event.get("content_block", {}).get("type") == "tool_use"
    ]
    assert calls == ["list_directory", "glob", "grep"]


def test_thinking_comes_only_where_it_is_asked_for(client: httpx2.Client) -> None:
    silent = client.post("/v1/messages", json=body(thinking=None)).json()

    assert {block["type"] for block in silent["content"]} == {"text", "tool_use"}


def test_thinking_is_taken_back_exactly_as_it_was_signed(client: httpx2.Client) -> None:
    said = client.post("/v1/messages", json=body()).json()
    assistant = {"role": "assistant", "content": said["content"]}
    messages = [USER, assistant, results_for(said)]

    assert client.post("/v1/messages", json=body(messages=messages)).status_code == 200
    for spoilt in ({"thinking": "other"}, {"signature": "AAAA"}):
        block = {**said["content"][0], **spoilt}
        changed = [USER, {**assistant, "content": [block, *said["content"][1:]]}, messages[2]]
        refused = client.post("/v1/messages", json=body(messages=changed))
        assert refused.status_code == 400
        assert "signature" in refused.json()["error"]["message"]


def test_the_signature_of_another_key_is_not_taken(client: httpx2.Client) -> None:
    said = client.post("/v1/messages", json=body()).json()
    messages = [USER, {"role": "assistant", "content": said["content"]}, results_for(said)]

    with DemoModel(pace=0, api_key="another") as other:
        url, headers = f"{other.url}/v1/messages", {"x-api-key": other.api_key}
        refused = httpx2.post(url, json=body(messages=messages), headers=headers, trust_env=False)

    assert refused.status_code == 400


ASKED = {
    "role": "assistant",
    "content": [{"type": "tool_use", "id": "a", "name": "x", "input": {}}],
}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"max_tokens": None}, "max_tokens: Field required"),
        ({"max_tokens": 0}, "at least 1"),
        ({"model": None}, "model: Field required"),
        ({"messages": None}, "at least one message"),
        ({"messages": []}, "at least one message"),
        ({"messages": [{"role": "system", "content": "x"}]}, "messages.0.role"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages.0.role"),
        ({"messages": [{"role": "assistant", "content": "x"}]}, "user role"),
        ({"messages": [{"role": "user", "content": ""}]}, "non-empty"),
        ({"messages": [{"role": "user", "content": []}]}, "must not be empty"),
        ({"messages": [USER, ASKED]}, "without `tool_result` blocks"),
        ({"messages": [USER, ASKED, USER]}, "without `tool_result` blocks"),
        ({"messages": [RESULT]}, "unexpected `tool_use_id`"),
        ({"messages": [USER, ASKED, RESULT, ASKED, RESULT]}, "unique"),
        ({"messages": [{"role": "user", "content": ASKED["content"]}]}, "cannot hold"),
        ({"thinking": {"type": "enabled", "budget_tokens": 100}}, "budget_tokens"),
        ({"thinking": {"type": "enabled", "budget_tokens": 4_000}}, "greater than"),
        ({"thinking": {"type": "hard"}}, "unknown type"),
        ({"temperature": 0.5}, "temperature"),
        ({"tool_choice": {"type": "any"}}, "forces tool use"),
        ({"tool_choice": {"type": "auto"}, "tools": None}, "together with tools"),
        ({"tools": [*TOOLS, TOOLS[0]]}, "unique"),
        ({"tools": [{"input_schema": {}}]}, "needs a name"),
    ],
)
def test_a_broken_rule_is_an_invalid_request(
    client: httpx2.Client, changes: dict[str, Any], named: str
) -> None:
    refused = client.post("/v1/messages", json=body(**changes))

    assert refused.status_code == 400
    answer = refused.json()
    assert (answer["type"], answer["error"]["type"]) == ("error", "invalid_request_error")
    assert named in answer["error"]["message"]
    assert answer["request_id"] == refused.headers["request-id"]


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_object_is_an_invalid_request(client: httpx2.Client, raw: bytes) -> None:
    assert client.post("/v1/messages", content=raw).status_code == 400


@pytest.mark.parametrize("headers", [{}, {"x-api-key": "wrong"}, {"x-api-key": ""}])
def test_without_the_right_key_there_is_no_answer(demo: DemoModel, headers: dict[str, str]) -> None:
    for method, path in (("POST", "/v1/messages"), ("GET", "/v1/models")):
        refused = httpx2.request(method, demo.url + path, headers=headers, trust_env=False)
        assert refused.status_code == 401
        assert refused.json()["error"]["type"] == "authentication_error"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/messages", 405),
        ("POST", "/v1/models", 405),
        ("DELETE", "/v1/messages", 405),
        ("HEAD", "/v1/messages", 405),
        ("GET", "/", 404),
        ("POST", "/v1/complete", 404),
    ],
)
def test_other_addresses_and_methods_are_refused(
    client: httpx2.Client, method: str, path: str, status: int
) -> None:
    assert client.request(method, path).status_code == status


def test_the_list_of_models_names_the_demo_model(client: httpx2.Client, demo: DemoModel) -> None:
    models = client.get("/v1/models", params={"limit": 10}).json()

    assert [entry["id"] for entry in models["data"]] == [demo.model]
    assert models["has_more"] is False


def test_a_client_that_hangs_up_does_no_harm(
    demo: DemoModel, client: httpx2.Client, capfd: pytest.CaptureFixture[str]
) -> None:
    request = json.dumps(body(stream=True)).encode()
    port = httpx2.URL(demo.url).port
    assert port is not None
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(
            b"POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: demo\r\n"
            b"content-length: %d\r\n\r\n%b" % (len(request), request)
        )
        connection.recv(10)

    assert client.get("/v1/models").status_code == 200
    assert capfd.readouterr().err == ""


def test_it_stops_at_once_although_a_client_is_connected() -> None:
    with DemoModel(pace=0) as demo:
        client = httpx2.Client(base_url=demo.url, trust_env=False)
        client.get("/v1/models")
        url = demo.url
        started = time.monotonic()
    assert time.monotonic() - started < 2
    client.close()

    with pytest.raises(httpx2.ConnectError):
        httpx2.get(url, trust_env=False)
    with pytest.raises(RuntimeError, match="no address before `with` starts it"):
        _ = demo.url


def test_several_clients_are_served_at_the_same_time(demo: DemoModel) -> None:
    def ask(number: int) -> str:
        message = {"role": "user", "content": f"look for `word{number}`"}
        answer = httpx2.post(
            f"{demo.url}/v1/messages",
            json=body(messages=[message]),
            headers={"x-api-key": demo.api_key},
            trust_env=False,
        )
        return answer.json()["content"][0]["thinking"]

    with ThreadPoolExecutor(8) as pool:
        thoughts = list(pool.map(ask, range(16)))

    assert all(f"word{number}`" in thought for number, thought in enumerate(thoughts))
