"""OpenAI Responses from Python: what events carry, and what a result holds."""

from __future__ import annotations

import json
from typing import Any

from amplifier_stream import StreamDecoder

Event = dict[str, Any]

REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "Look first"}],
    "encrypted_content": "c2VhbGVk",
}
MESSAGE = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "phase": "commentary",
    "content": [{"type": "output_text", "text": "Looking 😀", "annotations": []}],
}
CALL = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "look",
    "arguments": '{"n": 12345678901234567890}',
    "status": "completed",
}
CUSTOM = {
    "type": "custom_tool_call",
    "id": "ctc_1",
    "call_id": "call_2",
    "name": "patch",
    "input": "*** not JSON",
}
SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"query": "q"}}
OUTPUT = [REASONING, MESSAGE, CALL, CUSTOM, SEARCH]
USAGE = {
    "input_tokens": 90,
    "input_tokens_details": {"cached_tokens": 60},
    "output_tokens": 30,
    "output_tokens_details": {"reasoning_tokens": 20},
}
BLOCKS = [
    {"type": "thinking", "thinking": "Look first", "item": REASONING},
    {"type": "text", "text": "Looking 😀", "item": MESSAGE},
    {
        "type": "tool_call",
        "id": "call_1",
        "name": "look",
        "arguments": {"n": 12345678901234567890},
        "raw_arguments": CALL["arguments"],
        "error": None,
        "item": CALL,
    },
    {
        "type": "tool_call",
        "id": "call_2",
        "name": "patch",
        "arguments": {"input": "*** not JSON"},
        "raw_arguments": "*** not JSON",
        "input": "*** not JSON",
        "error": None,
        "item": CUSTOM,
    },
    SEARCH,
]


def added(index: int, item: Event) -> Event:
    emptied = {"content": [], "summary": [], "arguments": "", "input": "", "encrypted_content": "x"}
    start = {key: emptied.get(key, value) for key, value in item.items()}
    return {"type": "response.output_item.added", "output_index": index, "item": start}


def delta(kind: str, index: int, text: str) -> Event:
    return {"type": f"response.{kind}.delta", "output_index": index, "delta": text}


def done(index: int, item: Event) -> Event:
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def response(status: str, **fields: Any) -> Event:
    fields = {"id": "resp_1", "model": "gpt-demo", "status": status, "output": [], **fields}
    return {"type": f"response.{status}", "response": fields}


CREATED = {**response("in_progress"), "type": "response.created"}
TURN = [
    CREATED,
    added(0, REASONING),
    delta("reasoning_summary_text", 0, "Look first"),
    done(0, REASONING),
    added(1, MESSAGE),
    delta("output_text", 1, "Looking "),
    delta("output_text", 1, "😀"),
    done(1, MESSAGE),
    added(2, CALL),
    delta("function_call_arguments", 2, '{"n": 123456789'),
    delta("function_call_arguments", 2, "01234567890}"),
    done(2, CALL),
    added(3, CUSTOM),
    delta("custom_tool_call_input", 3, "*** not JSON"),
    done(3, CUSTOM),
    added(4, SEARCH),
    done(4, SEARCH),
    response("completed", output=OUTPUT, usage=USAGE, service_tier="default"),
]


def wire(events: list[Event]) -> bytes:
    lines = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]
    return "".join(lines).encode()


def decode(events: list[Event]) -> tuple[list[Event], Any]:
    decoder = StreamDecoder("responses", 200, {"X-Request-Id": "req_1"})
    payloads = [event.data for event in decoder.feed(wire(events))]
    assert all(payload.pop("timestamp") for payload in payloads)
    return payloads, decoder.finish()


def test_each_event_has_its_flat_payload() -> None:
    payloads, _ = decode(TURN)

    def payload(kind: str, index: int, **more: object) -> dict[str, object]:
        return {"block_type": kind, "block_index": index, **more}

    call = {"item_id": "fc_1", "id": "call_1", "name": "look", "status": "completed"}
    message = {"id": "msg_1", "role": "assistant", "status": "completed", "phase": "commentary"}
    search = {"id": "ws_1", "status": "completed", "action": {"query": "q"}}
    assert payloads == [
        payload("thinking", 0, metadata={"id": "rs_1"}),
        payload("thinking", 0, delta="Look first"),
        payload("thinking", 0, block=BLOCKS[0]),
        payload("text", 1, metadata=message),
        payload("text", 1, delta="Looking "),
        payload("text", 1, delta="😀"),
        payload("text", 1, block=BLOCKS[1]),
        payload("tool_call", 2, metadata=call),
        payload("tool_call", 2, partial_json='{"n": 123456789'),
        payload("tool_call", 2, partial_json="01234567890}"),
        payload("tool_call", 2, block=BLOCKS[2]),
        payload("tool_call", 3, metadata={"item_id": "ctc_1", "id": "call_2", "name": "patch"}),
        payload("tool_call", 3, delta="*** not JSON"),
        payload("tool_call", 3, block=BLOCKS[3]),
        payload("web_search_call", 4, metadata=search),
        payload("web_search_call", 4, block=BLOCKS[4]),
    ]


def test_the_result_holds_the_whole_answer() -> None:
    _, result = decode(TURN)
    found = {name: getattr(result, name) for name in dir(result) if not name.startswith("_")}
    assert found == {
        "blocks": BLOCKS,
        "usage": {
            "input_tokens": 30,
            "cache_read_tokens": 60,
            "cache_write_tokens": None,
            "output_tokens": 10,
            "reasoning_tokens": 20,
        },
        "raw_usage": USAGE,
        "stop_reason": "tool_use",
        "raw_stop_reason": "completed",
        "stop_sequence": None,
        "id": "resp_1",
        "model": "gpt-demo",
        "request_id": "req_1",
        "metadata": {"service_tier": "default"},
        "truncated": False,
        "error": None,
        "findings": [],
        "events": [],
    }


def test_arguments_are_there_while_they_arrive() -> None:
    decoder = StreamDecoder("responses")
    decoder.feed(wire([CREATED, added(0, CALL), delta("function_call_arguments", 0, '{"n": 12,')]))
    assert decoder.partial_arguments(0) == {"n": 12}
    decoder.feed(wire([added(1, CUSTOM), delta("custom_tool_call_input", 1, "*** no")]))
    assert decoder.partial_arguments(1) == {"input": "*** no"}
    decoder.feed(wire([done(0, CALL), done(1, CUSTOM)]))
    assert decoder.partial_arguments(0) == {"n": 12345678901234567890}


def test_no_prefix_of_a_stream_runs_a_tool() -> None:
    body = wire(TURN)
    for cut in range(len(body)):
        decoder = StreamDecoder("responses")
        decoder.feed(body[:cut])
        result = decoder.finish()
        assert result.truncated
        for block in result.blocks:
            if block["type"] == "tool_call":
                assert block["arguments"] is None
                assert block.get("input") is None
                assert block["error"]


def test_an_error_in_the_stream_is_the_error_of_the_result() -> None:
    message = "Too many tokens"
    nested = {"type": "tokens", "code": "rate_limit_exceeded", "message": message, "param": "input"}
    failed = response("failed", error={"code": "rate_limit_exceeded", "message": message})
    _, result = decode([CREATED, added(0, CALL), done(0, CALL), {"type": "error", "error": nested}])
    error = {
        "type": "tokens",
        "code": "rate_limit_exceeded",
        "status": 200,
        "message": message,
        "retryable": True,
        "retry_after": None,
        "details": {"param": "input"},
    }
    assert (result.error, result.truncated, result.stop_reason) == (error, True, None)
    assert result.blocks[0]["arguments"] is None

    _, result = decode([CREATED, failed])
    error = {**error, "type": "rate_limit_exceeded"}
    del error["details"]
    assert (result.error, result.truncated, result.raw_stop_reason) == (error, False, "failed")
