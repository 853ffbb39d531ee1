"""A server that answers as it is told, and the pieces of a stream to tell it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_providers.openai_chat import ChatProvider, read_config
from amplifier_providers.openai_chat.config import ChatConfig
from amplifier_testing.servers.serving.http import HttpRequest, Reply
from amplifier_testing.servers.serving.recording import RecordingServer

MODEL = "some-model"
DONE = b"data: [DONE]\n\n"


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


def chunk(finish_reason: str | None = None, **delta: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {"id": "chat-1", "object": "chat.completion.chunk", "model": MODEL, "choices": [choice]}


def call(index: int, call_id: str | None, name: str, arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    named = {"id": call_id} if call_id else {}
    return {"index": index, "type": "function", **named, "function": function}


def sse(*chunks: dict[str, Any], done: bool = True) -> bytes:
    lines = (f"data: {json.dumps(each)}\n\n".encode() for each in chunks)
    return b"".join(lines) + (DONE if done else b"")


def said(text: str) -> bytes:
    """The stream of a text."""
    return sse(chunk(role="assistant", content=text), chunk("stop"))


@dataclass
class Answer:
    """What a server sends for one request."""

    body: bytes = b""
    status: int = 200
    content_type: str = "text/event-stream"
    headers: dict[str, str] = field(default_factory=dict[str, str])
    is_cut: bool = False
    """Whether the connection breaks before the end of the body."""
    hangs: bool = False
    """Whether nothing more comes, as long as the server runs."""


@dataclass
class Asked:
    """One request."""

    path: str
    headers: dict[str, str]
    body: Any


class Server(RecordingServer):
    """Answers each request with the next of its answers, and keeps what was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[Answer] = []
        self.asked: list[Asked] = []
        self.respond(self._next_reply)

    @property
    def url(self) -> str:
        return f"{super().url}/v1"

    @property
    def bodies(self) -> list[Any]:
        return [each.body for each in self.asked]

    def _next_reply(self, request: HttpRequest) -> Reply:
        self.asked.append(Asked(request.target, dict(request.headers), request.json))
        answer = self.answers.pop(0)
        end = len(answer.body) if answer.is_cut or answer.hangs else None
        return Reply(
            answer.status,
            {"content-type": answer.content_type, "connection": "close", **answer.headers},
            [answer.body] if end is None else [answer.body, b" "],
            is_whole=True,
            cut=end if answer.is_cut else None,
            stall=end if answer.hangs else None,
        )


@pytest.fixture
def wire() -> SimpleNamespace:
    """The pieces of a stream."""
    return SimpleNamespace(sse=sse, chunk=chunk, call=call, said=said, done=DONE, Answer=Answer)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


class Hooks:
    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    async def emit(self, event: str, data: dict[str, Any]) -> None:
        self.events.append((event, data))

    def of(self, *names: str) -> list[dict[str, Any]]:
        return [data for event, data in self.events if event in names]


@pytest.fixture
def hooks() -> Hooks:
    return Hooks()


@pytest.fixture
async def provider_with(server: Server, hooks: Hooks) -> AsyncIterator[Callable[..., ChatProvider]]:
    """Make a provider with these settings, by default without retries."""
    made: list[ChatProvider] = []
    numbers = count(1)

    def make(**config: Any) -> ChatProvider:
        given = {
            "base_url": server.url,
            "default_model": MODEL,
            "api_key": "sk-very-secret",
            "max_retries": 0,
            "timeout": 5,
            **config,
        }
        found = read_config(given, {})
        assert isinstance(found, ChatConfig)
        made.append(ChatProvider.of(found, hooks, new_id=lambda: f"made_{next(numbers)}"))
        return made[-1]

    yield make
    for each in made:
        await each.close()
