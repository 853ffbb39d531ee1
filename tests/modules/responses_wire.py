"""A server that answers as it is told, and the streams of the Responses API to tell it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from amplifier_testing.servers.serving.http import HttpRequest, Reply
from amplifier_testing.servers.serving.recording import RecordingServer

Item = dict[str, Any]

USAGE = {
    "input_tokens": 20,
    "input_tokens_details": {"cached_tokens": 5},
    "output_tokens": 12,
    "output_tokens_details": {"reasoning_tokens": 4},
    "total_tokens": 32,
}


def message(text: str, **fields: Any) -> Item:
    part = {"type": "output_text", "text": text, "annotations": fields.pop("annotations", [])}
    said: Item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
    return {**said, "content": [part], **fields}


def reasoning(text: str = "Hm.", encrypted: str = "secret", item_id: str = "rs_1") -> Item:
    summary = [{"type": "summary_text", "text": text}]
    return {
        "type": "reasoning",
        "id": item_id,
        "summary": summary,
        "encrypted_content": encrypted,
    }


def call(call_id: str = "call_1", name: str = "look", arguments: str = '{"at": 1}') -> Item:
    return {
        "type": "function_call",
        "id": f"fc_{call_id}",
        "call_id": call_id,
        "name": name,
        "arguments": arguments,
        "status": "completed",
    }


def response(*items: Item, status: str = "completed", **fields: Any) -> dict[str, Any]:
    """A whole response."""
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": status,
        "model": "gpt-5.5-2026-04-23",
        "output": list(items),
        "usage": USAGE,
        **fields,
    }


def cut_off(*items: Item, **fields: Any) -> dict[str, Any]:
    """A response that ran out of tokens."""
    details = {"reason": "max_output_tokens"}
    return response(*items, status="incomplete", incomplete_details=details, **fields)


def stream(whole: dict[str, Any]) -> bytes:
    """The stream of a response."""
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": begun}]
    for index, item in enumerate(whole["output"]):
        place = {"output_index": index}
        empty = {
            **item,
            **{key: "" for key in ("arguments",) if key in item},
            **{key: [] for key in ("content", "summary") if key in item},
        }
        events.append({"type": "response.output_item.added", **place, "item": empty})
        events += [{**event, **place} for event in _deltas(item)]
        events.append({"type": "response.output_item.done", **place, "item": item})
    events.append({"type": f"response.{whole['status']}", "response": whole})
    return sse(*events)


def _deltas(item: Item) -> Iterator[dict[str, Any]]:
    match item["type"]:
        case "message":
            for number, part in enumerate(item["content"]):
                for word in part["text"].split(" ", 1) if part.get("text") else ():
                    between = " " if word != part["text"].split(" ", 1)[0] else ""
                    delta = {"content_index": number, "delta": between + word}
                    yield {"type": "response.output_text.delta", **delta}
        case "reasoning":
            for number, part in enumerate(item["summary"]):
                delta = {"summary_index": number, "delta": part["text"]}
                yield {"type": "response.reasoning_summary_text.delta", **delta}
        case "function_call":
            yield {"type": "response.function_call_arguments.delta", "delta": item["arguments"]}
        case _:
            pass


def sse(*events: dict[str, Any]) -> bytes:
    numbered = ({**event, "sequence_number": number} for number, event in enumerate(events))
    return b"".join(
        f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in numbered
    )


@dataclass
class Answer:
    """What a server sends for one request."""

    body: bytes = b""
    status: int = 200
    content_type: str = "text/event-stream"
    headers: dict[str, str] = field(default_factory=dict[str, str])
    is_cut: bool = False
    """Whether the connection breaks before the end of the body."""

    @classmethod
    def json(cls, value: Any, status: int = 200) -> Answer:
        """A JSON document."""
        return cls(json.dumps(value).encode(), status, "application/json")

    @classmethod
    def refused(cls, status: int, code: str, text: str) -> Answer:
        """An error as OpenAI sends it."""
        error = {"message": text, "type": "invalid_request_error", "param": None, "code": code}
        return cls.json({"error": error}, status)

    @classmethod
    def of(cls, *items: Item, **fields: Any) -> Answer:
        """A stream of these items."""
        return cls(stream(response(*items, **fields)))


@dataclass
class Asked:
    """One request."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


class Server(RecordingServer):
    """Answers each request with the next of its answers, and keeps what was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[Answer | Callable[[Asked], Answer]] = []
        self.asked: list[Asked] = []
        self.respond(self._next_reply)

    @property
    def bodies(self) -> list[Any]:
        """The bodies of the requests so far."""
        return [asked.body for asked in self.asked]

    def _next_reply(self, request: HttpRequest) -> Reply:
        asked = Asked(request.method, request.target, dict(request.headers), request.json)
        self.asked.append(asked)
        answer = self.answers.pop(0)
        answer = answer if isinstance(answer, Answer) else answer(asked)
        headers = {"content-type": answer.content_type, **answer.headers}
        if answer.is_cut:
            cut = len(answer.body)
            return Reply(answer.status, headers, [answer.body, b" "], is_whole=True, cut=cut)
        return Reply(answer.status, headers, [answer.body], is_whole=True)


def running() -> Server:
    """A server, which runs within `with`."""
    return Server()


class Hooks:
    """Keeps the events."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    async def emit(self, event: str, data: dict[str, Any]) -> None:
        self.events.append((event, data))

    def names(self) -> list[str]:
        return [name for name, _ in self.events]

    def data(self, event: str) -> list[dict[str, Any]]:
        return [data for name, data in self.events if name == event]
