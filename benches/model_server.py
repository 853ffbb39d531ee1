"""A server that answers as models do, in a process whose CPU time counts for nobody.

The path says what is asked for: `/text/2000/v1/messages` answers with 2,000 text deltas,
`/each/2000/v1/messages` with the same in one HTTP chunk an event,
`/whole/2000/v1/messages` with the same text as one JSON document (Messages and Chat Completions),
`/edits/131072/v1/messages` and `/file/131072/v1/messages` with a tool call whose arguments are about
that many bytes, many values or one long text, in deltas of 32 bytes. `/v1/responses` and
`/v1/chat/completions` at the end answer in those dialects, `/api/chat` in that of Ollama. All comes at once, else in HTTP chunks of
16 kB: what a client costs and not what it waits for is measured.
"""

from __future__ import annotations

import asyncio
import functools
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

Event = dict[str, Any]

DELTA = 32
"""Bytes of the arguments in one delta."""
CHUNK = 16 * 1024
"""Bytes of one chunk of HTTP, and of one read of a socket."""
EDIT = {"path": "src/module.py", "line": 12, "column": 4, "text": "return value"}
LINE = "The quick brown fox jumps over the lazy dog, and over it again.\n"


def tool_arguments(kind: str, size: int) -> str:
    """The JSON of about so many bytes: many small values, or one long text."""
    if kind == "file":
        return json.dumps({"path": "notes.md", "content": LINE * (size // len(LINE))})
    edits = size // (len(json.dumps(EDIT)) + 2)
    return json.dumps({"edits": [EDIT | {"line": number} for number in range(edits)]})


def words(count: int) -> list[str]:
    return [f"word {number} and " for number in range(count)]


def messages(kind: str, size: int) -> Iterator[Event]:
    """One answer in the dialect of Anthropic Messages."""
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-bench",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 1},
    }
    yield {"type": "message_start", "message": message}
    if kind in ("text", "each"):
        block: Event = {"type": "text", "text": ""}
        deltas = [{"type": "text_delta", "text": word} for word in words(size)]
        reason = "end_turn"
    else:
        block = {"type": "tool_use", "id": "toolu_1", "name": "write", "input": {}}
        text = tool_arguments(kind, size)
        pieces = [text[place : place + DELTA] for place in range(0, len(text), DELTA)]
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        reason = "tool_use"
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    stop = {"stop_reason": reason, "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 20}}
    yield {"type": "message_stop"}


def responses(size: int) -> Iterator[Event]:
    """An answer of text in the dialect of OpenAI Responses."""
    response: Event = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": "in_progress",
        "model": "gpt-bench",
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    item: Event = {"id": "msg_1", "type": "message", "role": "assistant", "content": []}
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
    yield {"type": "response.created", "response": response}
    begun = item | {"status": "in_progress"}
    yield {"type": "response.output_item.added", "output_index": 0, "item": begun}
    yield {"type": "response.content_part.added", **place, "part": part}
    for word in words(size):
        yield {"type": "response.output_text.delta", **place, "delta": word, "logprobs": []}
    text = "".join(words(size))
    yield {"type": "response.output_text.done", **place, "text": text, "logprobs": []}
    yield {"type": "response.content_part.done", **place, "part": part | {"text": text}}
    done = item | {"status": "completed", "content": [part | {"text": text}]}
    yield {"type": "response.output_item.done", "output_index": 0, "item": done}
    usage = {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 30,
    }
    whole = response | {"status": "completed", "output": [done], "usage": usage}
    yield {"type": "response.completed", "response": whole}


def chat(size: int) -> Iterator[Event]:
    """An answer of text in the dialect of Chat Completions."""
    chunk: Event = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "gpt-bench",
        "usage": None,
    }
    for word in words(size):
        choice = {"index": 0, "delta": {"content": word}, "finish_reason": None}
        yield chunk | {"choices": [choice]}
    yield chunk | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    usage = {"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30}
    yield chunk | {"choices": [], "usage": usage}


def ollama(size: int) -> Iterator[Event]:
    """An answer of text in Ollama's own dialect."""
    line: Event = {"model": "bench", "created_at": "2026-01-01T00:00:00Z", "done": False}
    for word in words(size):
        yield line | {"message": {"role": "assistant", "content": word}}
    counts = {"prompt_eval_count": 10, "eval_count": 20}
    end = {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}
    yield line | end | counts


def written(endpoint: str, kind: str, size: int) -> list[bytes]:
    """The bytes of each server-sent event, numbered as OpenAI's are; for Ollama, of each line."""
    if endpoint == "ollama":
        return [json.dumps(event).encode() + b"\n" for event in ollama(size)]
    if endpoint == "chat":
        parts = [f"data: {json.dumps(event)}\n\n".encode() for event in chat(size)]
        return [*parts, b"data: [DONE]\n\n"]
    events = responses(size) if endpoint == "responses" else messages(kind, size)
    return [
        f"event: {event['type']}\ndata: {json.dumps(event | {'sequence_number': number})}\n\n".encode()
        for number, event in enumerate(events)
    ]


def document(endpoint: str, size: int) -> bytes:
    """The answer that is not streamed."""
    text = "".join(words(size))
    if endpoint == "chat":
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        answer: Event = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "gpt-bench",
            "choices": [choice],
            "usage": {"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30},
        }
        return json.dumps(answer).encode()
    answer = next(messages("text", 0))["message"]
    answer |= {"content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}
    return json.dumps(answer).encode()


def pieces(kind: str, events: list[bytes]) -> list[bytes]:
    """What each HTTP chunk holds."""
    if kind == "each":
        return events
    body = b"".join(events)
    return [body[place : place + CHUNK] for place in range(0, len(body), CHUNK)]


@functools.cache
def answer(path: str) -> bytes:
    """The HTTP response to this path."""
    _, kind, size, api, endpoint, *_ = path.split("/")
    if endpoint == "show":  # nothing is known of the model
        length = b"content-type: application/json\r\ncontent-length: 2"
        return b"HTTP/1.1 200 OK\r\n%b\r\n\r\n{}" % length
    if kind == "whole":
        body = document(endpoint, int(size))
        headers = b"content-type: application/json\r\ncontent-length: %d" % len(body)
        return b"HTTP/1.1 200 OK\r\n%b\r\n\r\n%b" % (headers, body)
    dialect = "ollama" if api == "api" else endpoint
    content_type = b"application/x-ndjson" if api == "api" else b"text/event-stream"
    parts = pieces(kind, written(dialect, kind, int(size)))
    head = (
        b"HTTP/1.1 200 OK\r\ncontent-type: %b\r\ntransfer-encoding: chunked\r\n\r\n" % content_type
    )
    chunks = [b"%x\r\n%b\r\n" % (len(piece), piece) for piece in parts]
    return b"".join([head, *chunks, b"0\r\n\r\n"])


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer every request of a connection."""
    with suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = head.partition("content-length:")[2].partition("\r\n")[0]
            await reader.readexactly(int(length or 0))
            writer.write(answer(head.split(" ")[1].partition("?")[0]))
            await writer.drain()
    writer.close()


async def main() -> None:
    """Listen, and say where."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@contextmanager
def model_server() -> Iterator[str]:
    """The address of a server that ends with the context."""
    command = [sys.executable, __file__]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.terminate()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(main())
