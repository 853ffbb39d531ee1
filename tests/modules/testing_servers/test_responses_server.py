"""What the Responses server answers, and what becomes of it when it comes back."""

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
    Declined,
    Fault,
    Recorded,
    RedactedThinking,
    ResponsesServer,
    Thinking,
    Usage,
)

Body = dict[str, Any]
HEADERS = {"authorization": "Bearer key"}
STREAMS = os.environ.get("RECORDED_STREAMS")
HELLO = {"type": "message", "role": "user", "content": "hi"}
STATELESS: Body = {"store": False, "include": ["reasoning.encrypted_content"]}
TOOLS = [
    {"type": "function", "name": name, "parameters": {"type": "object"}}
    for name in ("look", "rest")
]


def body(*items: Any, **fields: Any) -> Body:
    return {"model": "gpt-5", "input": [*(items or [HELLO])], **fields}


def ask(server: ResponsesServer, *items: Any, **fields: Any) -> httpx2.Response:
    return httpx2.post(f"{server.url}/responses", headers=HEADERS, json=body(*items, **fields))


def get(server: ResponsesServer, path: str) -> httpx2.Response:
    return httpx2.get(server.url + path, headers=HEADERS)


def post(server: ResponsesServer, path: str) -> httpx2.Response:
    return httpx2.post(server.url + path, headers=HEADERS)


def decode(response: httpx2.Response) -> Any:
    decoder = StreamDecoder("responses", response.status_code, dict(response.headers))
    decoder.feed(response.content)
    return decoder.finish()


def outputs(items: list[Body]) -> list[Body]:
    return [
        {"type": "function_call_output", "call_id": item["call_id"], "output": "x"}
        for item in items
        if item["type"] == "function_call"
    ]


def test_a_stream_says_what_the_script_says() -> None:
    look = Call("look", {"at": "é😀", "deep": {"list": [1, None]}}, id="call_a")
    usage = Usage(input=7, output=5, cache_read=3, cache_write=2, reasoning=4)
    answer = Answer(
        Thinking("Hm, é 😀."), RedactedThinking(), "Let me look.", look, Call("rest"), usage=usage
    )
    with ResponsesServer([answer]) as server:
        result = decode(ask(server, stream=True, **STATELESS))

    assert (result.error, result.truncated, result.findings) == (None, False, [])
    assert result.stop_reason == "tool_use"
    assert [block["type"] for block in result.blocks] == [
        "thinking", "thinking", "text", "tool_call", "tool_call",
    ]  # fmt: skip
    thinking, _, text, called, rest = result.blocks
    assert thinking["thinking"] == "Hm, é 😀."
    assert text["text"] == "Let me look."
    assert (called["id"], called["arguments"]) == ("call_a", look.arguments)
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
    ("answer", "status", "reason"),
    [
        (Answer("x"), "completed", "end_turn"),
        (Answer("x", stop="max_output_tokens"), "incomplete", "max_tokens"),
        (Answer("x", stop="content_filter"), "incomplete", "content_filter"),
        (Answer(Declined("No.")), "completed", "refusal"),
        (Answer(Block({"type": "web_search_call", "id": "ws_1", "status": "completed",
                       "action": {"type": "search", "query": "x"}}), "x"), "completed",
         "end_turn"),
    ],
)  # fmt: skip
def test_an_answer_stops_for_its_reason_in_a_stream_and_in_one_body(
    answer: Answer, status: str, reason: str
) -> None:
    with ResponsesServer([answer, answer]) as server:
        assert decode(ask(server, stream=True)).stop_reason == reason
        assert ask(server).json()["status"] == status


def test_a_response_may_fail() -> None:
    with ResponsesServer([Answer(stop="failed")]) as server:
        result = decode(ask(server, stream=True))

    assert result.error is not None
    assert result.error["code"] == "server_error"


def test_events_are_numbered_without_gaps() -> None:
    with ResponsesServer([Answer(Thinking("Hm"), "Look", Call("look"))]) as server:
        lines = ask(server, stream=True).text.splitlines()
    events = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]

    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert events[0]["type"] == "response.created"
    assert events[-1]["type"] == "response.completed"


def test_encrypted_content_is_whole_only_when_its_item_is_done() -> None:
    with ResponsesServer([Answer(Thinking("Hm"), "x")]) as server:
        lines = ask(server, stream=True, **STATELESS).text.splitlines()
        events = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
        added, done = (
            next(event["item"] for event in events if event["type"].endswith(kind))
            for kind in ("output_item.added", "output_item.done")
        )

        assert added["encrypted_content"] != done["encrypted_content"]
        assert done["encrypted_content"] == server.encrypt(done["id"], "Hm")


def test_a_turn_with_reasoning_and_calls_is_taken_back_and_a_changed_one_is_not() -> None:
    script = [Answer(Thinking("Hm"), Call("look", {"a": 1})), "Done."]
    with ResponsesServer(script) as server:
        items = ask(server, tools=TOOLS, **STATELESS).json()["output"]
        results = outputs(items)

        def replay(*changed: Body) -> int:
            given = body(HELLO, *changed, *results, tools=TOOLS, **STATELESS)
            refusal = server.judge(given)
            return refusal.status if refusal else 200

        thought, called = items
        assert replay(*items) == 200
        assert replay({**thought, "encrypted_content": "gAAAA"}, called) == 400
        assert replay({**thought, "id": "rs_other"}, called) == 400
        assert replay({**thought, "encrypted_content": None}, called) == 404
        assert replay(called) == 400
        assert replay(called, thought) == 400
        assert replay({"type": "reasoning", **server.reasoning("other")}, called) == 400


def test_a_chain_goes_on_from_what_was_stored() -> None:
    script = [Answer(Thinking("Hm"), Call("look")), "Done.", "More."]
    with ResponsesServer(script) as server:
        first = ask(server).json()
        results = outputs(first["output"])
        unanswered = ask(server, HELLO, previous_response_id=first["id"])
        second = ask(server, *results, previous_response_id=first["id"]).json()
        third = ask(server, HELLO, previous_response_id=second["id"], store=False).json()
        lost = ask(server, HELLO, previous_response_id=third["id"])
        listed = get(server, f"/responses/{second['id']}/input_items").json()["data"]

    assert unanswered.json()["error"]["message"].startswith("No tool output found for function")
    assert second["output"][0]["content"][0]["text"] == "Done."
    assert third["output"][0]["content"][0]["text"] == "More."
    assert (lost.status_code, lost.json()["error"]["code"]) == (400, "previous_response_not_found")
    assert [item["type"] for item in listed] == [
        "message", "reasoning", "function_call", "function_call_output", "message",
    ]  # fmt: skip


def test_a_background_response_is_waited_for() -> None:
    with ResponsesServer(["Done."], background_polls=2) as server:
        queued = ask(server, background=True).json()
        statuses = [get(server, f"/responses/{queued['id']}").json()["status"] for _ in range(3)]
        ended = get(server, f"/responses/{queued['id']}").json()

    assert queued["status"] == "queued"
    assert statuses == ["in_progress", "in_progress", "completed"]
    assert ended["output"][0]["content"][0]["text"] == "Done."


def test_a_background_response_can_be_cancelled_and_another_cannot() -> None:
    with ResponsesServer() as server:
        waiting = ask(server, background=True).json()["id"]
        done = ask(server).json()["id"]

        assert post(server, f"/responses/{waiting}/cancel").json()["status"] == "cancelled"
        assert get(server, f"/responses/{waiting}").json()["status"] == "cancelled"
        assert post(server, f"/responses/{done}/cancel").json()["error"]["message"] == (
            "Cannot cancel a synchronous response."
        )
        assert get(server, "/responses/resp_none").status_code == 404


def test_a_stream_is_taken_up_again_after_an_event() -> None:
    with ResponsesServer(["Hello there, again and again."]) as server:
        whole = ask(server, stream=True)
        name = decode(whole).id
        rest = get(server, f"/responses/{name}?stream=true&starting_after=5")

    assert whole.text.endswith(rest.text)
    assert '"sequence_number":6' in rest.text.split("\n\n", 1)[0]


def test_azure_has_its_own_address_key_and_deployments() -> None:
    with ResponsesServer(api_key="key", deployments={"mine": "gpt-4o"}) as server:
        url = f"{server.azure_url}/openai/v1/responses"
        given = {**body(), "model": "mine"}
        statuses = [
            httpx2.post(url, headers=headers, json=given).status_code
            for headers in ({"api-key": "key"}, HEADERS, {"api-key": "no"})
        ]
        elsewhere = httpx2.post(f"{server.url}/responses", headers=HEADERS, json=given)

    assert statuses == [200, 200, 401]
    assert elsewhere.json()["error"]["code"] == "model_not_found"


def test_models_are_listed() -> None:
    with ResponsesServer() as server:
        names = [model["id"] for model in get(server, "/models").json()["data"]]

        assert names == [model.name for model in server.models]
        assert get(server, "/models/gpt-5").json()["id"] == "gpt-5"
        assert get(server, "/models/none").status_code == 404
        assert get(server, "/other").status_code == 404


def test_an_error_may_come_in_the_stream() -> None:
    fault = Fault(error_after=2, code="rate_limit_exceeded", message="Slow down")
    with ResponsesServer(faults=[fault]) as server:
        result = decode(ask(server, stream=True))

    assert result.error is not None
    assert (result.error["code"], result.error["message"]) == ("rate_limit_exceeded", "Slow down")


def test_the_official_client_reads_the_answers_and_sends_them_back() -> None:
    script = [Answer(Thinking("Hm"), "Look.", Call("look", {"a": "é"}), Call("rest")), "Done."]
    with ResponsesServer(script, faults=[Fault(status=429)]) as server:
        client = openai.OpenAI(base_url=server.url, api_key="key", max_retries=0)
        options: Body = {"model": "gpt-5", "tools": TOOLS, **STATELESS}
        with pytest.raises(openai.RateLimitError):
            client.responses.create(input=[HELLO], **options)  # pyright: ignore
        with client.responses.stream(input=[HELLO], **options) as stream:  # pyright: ignore
            response = stream.get_final_response()
        items = [item.to_dict() for item in response.output]
        for item in items:  # what the client adds
            item.pop("parsed_arguments", None)
            for part in item.get("content") or []:
                part.pop("parsed", None)
        last = client.responses.create(input=[HELLO, *items, *outputs(items)], **options)  # pyright: ignore
        client.close()

        assert server.refusals == []
    assert [item["type"] for item in items] == [
        "reasoning", "message", "function_call", "function_call",
    ]  # fmt: skip
    assert last.output_text == "Done."


@pytest.mark.skipif(not STREAMS, reason="`RECORDED_STREAMS` is not set")
def test_recorded_answers_are_taken_back_as_they_came() -> None:
    folder = Path(STREAMS or "")
    rows = [line.split("\t") for line in (folder / "index.tsv").read_text().splitlines()[1:]]
    names = [row[0] for row in rows if row[3] == "responses" and row[4] == "200"]
    seen = 0
    for name in names:
        with ResponsesServer([Recorded(folder / name)]) as server:
            events = ask(server, stream=True).text.splitlines()
            items = [
                event["item"]
                for line in events
                if line.startswith("data: ")
                and (event := json.loads(line[6:])).get("type") == "response.output_item.done"
            ]
            if not items or items[-1].get("status") == "incomplete":
                continue
            for item in items:
                item.pop("content_filters", None)
            given = body(HELLO, *items, *outputs(items), store=False)
            assert server.judge(given) is None, name
            for item in items:
                if item.get("encrypted_content"):
                    item["encrypted_content"] += "A"
                    assert server.judge(given) is not None
            seen += 1
    assert seen > 2
