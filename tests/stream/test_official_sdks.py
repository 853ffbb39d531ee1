"""The official SDKs read streams that are written here as our decoder does.

Each stream is served over the loopback, so that the SDK reads it as it would the provider's. The
SDKs are imported by the tests that need them: one of them takes a second.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_stream import StreamDecoder, StreamResult
from amplifier_testing.servers.serving.http import Reply
from amplifier_testing.servers.serving.recording import RecordingServer

if TYPE_CHECKING:
    import anthropic
    import ollama
    import openai

Serve = Callable[[bytes], None]

MESSAGES: Any = [{"role": "user", "content": "Go"}]
NAMES = st.sampled_from(["read_file", "look", "sum"])
TEXTS = st.text(st.characters(codec="utf-8"), max_size=30)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)


@dataclass(frozen=True)
class Call:
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Script:
    """An answer, and where its texts are cut into deltas."""

    text: str
    thinking: str
    """Of chat and of Ollama; with the other two it needs signatures."""
    calls: list[Call]
    tokens: tuple[int, int, int]
    """Fresh input, cached input and output."""
    piece: int

    def pieces(self, text: str) -> list[str]:
        starts = range(0, len(text), self.piece)
        return [text[start : start + self.piece] for start in starts] or [""]


SCRIPTS = st.builds(
    Script,
    text=TEXTS,
    thinking=TEXTS,
    calls=st.lists(st.builds(Call, NAMES, st.dictionaries(TEXTS, VALUES, max_size=3)), max_size=3),
    tokens=st.tuples(*[st.integers(0, 10**6)] * 3),
    piece=st.integers(1, 8),
)


def events(*datas: dict[str, Any] | str) -> bytes:
    """Write server-sent events, each under the name of its type."""
    lines: list[str] = []
    for data in datas:
        name = f"event: {data['type']}\n" if isinstance(data, dict) and "type" in data else ""
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
        lines.append(f"{name}data: {text}\n\n")
    return "".join(lines).encode()


@pytest.fixture(scope="module")
def server() -> Iterator[RecordingServer]:
    with RecordingServer() as running:
        yield running


@pytest.fixture(scope="module")
def url(server: RecordingServer) -> str:
    return server.url


@pytest.fixture(scope="module")
def serve(server: RecordingServer) -> Serve:
    """Answer every request with a body."""

    def answer(body: bytes) -> None:
        kind = "application/x-ndjson" if body.startswith(b"{") else "text/event-stream"
        server.respond(Reply.of(body, kind))

    return answer


@pytest.fixture(scope="module")
def anthropic_client(url: str) -> Iterator[anthropic.Anthropic]:
    import anthropic

    with anthropic.Anthropic(api_key="k", base_url=url, max_retries=0) as client:
        yield client


@pytest.fixture(scope="module")
def openai_client(url: str) -> Iterator[openai.OpenAI]:
    import openai

    with openai.OpenAI(api_key="k", base_url=url, max_retries=0) as client:
        yield client


@pytest.fixture(scope="module")
def ollama_client(url: str) -> Iterator[ollama.Client]:
    import ollama

    with ollama.Client(url) as client:
        yield client


def decode(dialect: str, body: bytes) -> StreamResult:
    decoder = StreamDecoder(dialect)
    decoder.feed(body)
    result = decoder.finish()
    assert (result.truncated, result.error, result.findings) == (False, None, [])
    return result


def said(result: StreamResult) -> tuple[str, list[tuple[Any, str, Any]]]:
    """The text and the calls of a result."""
    text = "".join(block["text"] for block in result.blocks if block["type"] == "text")
    calls = [block for block in result.blocks if block["type"] == "tool_call"]
    return text, [(call["id"], call["name"], call["arguments"]) for call in calls]


def thought(result: StreamResult) -> str:
    return "".join(block["thinking"] for block in result.blocks if block["type"] == "thinking")


def anthropic_stream(script: Script) -> bytes:
    fresh, cached, output = script.tokens
    usage = {"input_tokens": fresh, "cache_read_input_tokens": cached, "output_tokens": 1}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "c", "content": []}
    datas: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "stop_reason": None, "usage": usage}}
    ]
    blocks = [({"type": "text", "text": ""}, "text_delta", "text", script.text)]
    for number, call in enumerate(script.calls):
        start = {"type": "tool_use", "id": f"call_{number}", "name": call.name, "input": {}}
        arguments = json.dumps(call.arguments)
        blocks.append((start, "input_json_delta", "partial_json", arguments))
    for index, (start, kind, key, whole) in enumerate(blocks):
        datas.append({"type": "content_block_start", "index": index, "content_block": start})
        for piece in script.pieces(whole):
            delta = {"type": kind, key: piece}
            datas.append({"type": "content_block_delta", "index": index, "delta": delta})
        datas.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": "tool_use" if script.calls else "end_turn", "stop_sequence": None}
    datas.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": output}})
    return events(*datas, {"type": "message_stop"})


@settings(max_examples=40)
@given(script=SCRIPTS)
def test_anthropic_messages_are_read_as_by_their_sdk(
    anthropic_client: anthropic.Anthropic, serve: Serve, script: Script
) -> None:
    body = anthropic_stream(script)
    result = decode("anthropic", body)
    serve(body)
    with anthropic_client.messages.stream(model="c", max_tokens=9, messages=MESSAGES) as stream:
        message = stream.get_final_message()
    text = "".join(block.text for block in message.content if block.type == "text")
    uses = [block for block in message.content if block.type == "tool_use"]
    assert said(result) == (text, [(use.id, use.name, use.input) for use in uses])
    usage = {key: count for key, count in message.usage.to_dict().items() if count is not None}
    assert (result.raw_usage, result.raw_stop_reason) == (usage, message.stop_reason)
    assert result.usage["input_tokens"] == message.usage.input_tokens


def responses_stream(script: Script) -> bytes:
    fresh, cached, output = script.tokens
    base = {"id": "r", "object": "response", "created_at": 1, "model": "g", "tools": []}
    base |= {"parallel_tool_calls": True, "tool_choice": "auto", "output": []}
    datas: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**base, "status": "in_progress"}}
    ]
    output_items: list[dict[str, Any]] = []

    def part(text: str) -> dict[str, Any]:
        return {"type": "output_text", "text": text, "annotations": []}

    def message(parts: list[Any]) -> dict[str, Any]:
        fields = {"type": "message", "id": "i", "role": "assistant", "status": "completed"}
        return {**fields, "content": parts}

    def add(item: dict[str, Any], index: int, kind: str) -> None:
        datas.append({"type": f"response.output_item.{kind}", "output_index": index, "item": item})

    at = {"item_id": "i", "output_index": 0, "content_index": 0}
    add(message([]), 0, "added")
    datas.append({"type": "response.content_part.added", **at, "part": part("")})
    for piece in script.pieces(script.text):
        delta = {"type": "response.output_text.delta", **at, "delta": piece, "logprobs": []}
        datas.append(delta)
    done = {"type": "response.output_text.done", **at, "text": script.text, "logprobs": []}
    datas += [done, {"type": "response.content_part.done", **at, "part": part(script.text)}]
    output_items.append(message([part(script.text)]))
    add(output_items[0], 0, "done")
    for index, call in enumerate(script.calls, 1):
        arguments = json.dumps(call.arguments)
        item = {"type": "function_call", "id": f"fc_{index}", "call_id": f"call_{index}"}
        item |= {"name": call.name, "arguments": "", "status": "in_progress"}
        add(item, index, "added")
        kind = "response.function_call_arguments"
        where = {"item_id": f"fc_{index}", "output_index": index}
        datas += [
            {"type": f"{kind}.delta", **where, "delta": piece} for piece in script.pieces(arguments)
        ]
        datas.append({"type": f"{kind}.done", **where, "arguments": arguments, "name": call.name})
        output_items.append({**item, "arguments": arguments, "status": "completed"})
        add(output_items[-1], index, "done")
    usage = {
        "input_tokens": fresh + cached,
        "input_tokens_details": {"cached_tokens": cached},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": fresh + cached + output,
    }
    last = {**base, "status": "completed", "output": output_items, "usage": usage}
    datas.append({"type": "response.completed", "response": last})
    numbered = [{**data, "sequence_number": number} for number, data in enumerate(datas)]
    return events(*numbered)


# Holds: stream-6
@settings(max_examples=40)
@given(script=SCRIPTS)
def test_openai_responses_are_read_as_by_their_sdk(
    openai_client: openai.OpenAI, serve: Serve, script: Script
) -> None:
    body = responses_stream(script)
    result = decode("responses", body)
    serve(body)
    with openai_client.responses.stream(model="g", input="Go") as stream:
        response = stream.get_final_response()
    calls = [item for item in response.output if item.type == "function_call"]
    read = [(call.call_id, call.name, json.loads(call.arguments)) for call in calls]
    assert said(result) == (response.output_text, read)
    assert response.usage is not None
    assert result.raw_usage == response.usage.to_dict()
    assert result.raw_stop_reason == response.status
    assert result.usage["input_tokens"] == script.tokens[0]


def chat_stream(script: Script) -> bytes:
    fresh, cached, output = script.tokens
    base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "g"}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return {**base, "choices": [choice], "usage": None}

    datas = [chunk({"role": "assistant", "content": ""})]
    datas += [chunk({"reasoning_content": piece}) for piece in script.pieces(script.thinking)]
    datas += [chunk({"content": piece}) for piece in script.pieces(script.text)]
    for index, call in enumerate(script.calls):
        function = {"name": call.name, "arguments": ""}
        first = {"index": index, "id": f"call_{index}", "type": "function", "function": function}
        datas.append(chunk({"tool_calls": [first]}))
        for piece in script.pieces(json.dumps(call.arguments)):
            more = {"index": index, "function": {"arguments": piece}}
            datas.append(chunk({"tool_calls": [more]}))
    datas.append(chunk({}, "tool_calls" if script.calls else "stop"))
    usage = {
        "prompt_tokens": fresh + cached,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens": output,
        "total_tokens": fresh + cached + output,
    }
    return events(*datas, {**base, "choices": [], "usage": usage}, "[DONE]")


@settings(max_examples=40)
@given(script=SCRIPTS)
def test_openai_chat_completions_are_read_as_by_their_sdk(
    openai_client: openai.OpenAI, serve: Serve, script: Script
) -> None:
    body = chat_stream(script)
    result = decode("chat", body)
    serve(body)
    with openai_client.chat.completions.stream(model="g", messages=MESSAGES) as stream:
        completion = stream.get_final_completion()
    choice = completion.choices[0]
    read = [
        (call.id, call.function.name, json.loads(call.function.arguments))
        for call in choice.message.tool_calls or []
    ]
    assert said(result) == (choice.message.content or "", read)
    assert thought(result) == (choice.message.model_extra or {})["reasoning_content"]
    assert completion.usage is not None
    assert result.raw_usage == completion.usage.to_dict()
    assert result.raw_stop_reason == choice.finish_reason
    assert result.usage["input_tokens"] == script.tokens[0]


def ollama_stream(script: Script) -> bytes:
    fresh, _, output = script.tokens
    base = {"model": "l", "created_at": "2026-01-01T00:00:00Z", "done": False}

    def line(**message: Any) -> dict[str, Any]:
        return {**base, "message": {"role": "assistant", "content": "", **message}}

    lines = [line(thinking=piece) for piece in script.pieces(script.thinking)]
    lines += [line(content=piece) for piece in script.pieces(script.text)]
    for call in script.calls:
        function = {"name": call.name, "arguments": call.arguments}
        lines.append(line(tool_calls=[{"function": function}]))
    counts = {"prompt_eval_count": fresh, "eval_count": output}
    lines.append({**line(), "done": True, "done_reason": "stop", **counts})
    return b"".join(json.dumps(each).encode() + b"\n" for each in lines)


@settings(max_examples=40)
@given(script=SCRIPTS)
def test_ollama_chats_are_read_as_by_their_client(
    ollama_client: ollama.Client, serve: Serve, script: Script
) -> None:
    body = ollama_stream(script)
    result = decode("ollama", body)
    serve(body)
    parts = list(ollama_client.chat("l", MESSAGES, stream=True))
    text = "".join(part.message.content or "" for part in parts)
    calls = [call.function for part in parts for call in part.message.tool_calls or []]
    assert said(result) == (text, [(None, call.name, call.arguments) for call in calls])
    assert thought(result) == "".join(part.message.thinking or "" for part in parts)
    last = parts[-1]
    assert result.raw_stop_reason == last.done_reason
    counts = result.usage["input_tokens"], result.usage["output_tokens"]
    assert counts == (last.prompt_eval_count, last.eval_count)
