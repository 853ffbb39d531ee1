"""A server that answers as it is told, and the pieces of a stream to tell it."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from types import SimpleNamespace
from typing import Any, cast

import pytest

from amplifier_providers.openai_chat import ChatProvider, read_config
from amplifier_providers.openai_chat.config import ChatConfig

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


class Server(ThreadingHTTPServer):
    """Answers each request with the next of its answers, and keeps what was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: list[Answer] = []
        self.asked: list[Asked] = []
        self.is_over = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"

    @property
    def bodies(self) -> list[Any]:
        return [each.body for each in self.asked]


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server = cast("Server", self.server)
        written = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(self.path, headers, json.loads(written) if written else None)
        server.asked.append(asked)
        answer = server.answers.pop(0)
        self.send_response(answer.status)
        length = len(answer.body) + (10 if answer.is_cut or answer.hangs else 0)
        for name, value in {
            "content-type": answer.content_type,
            "content-length": str(length),
            "connection": "close",
            **answer.headers,
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)
        if answer.hangs:
            self.wfile.flush()
            server.is_over.wait()

    do_GET = do_POST

    def log_message(self, format: str, *_: Any) -> None:
        """Write nothing."""


@pytest.fixture
def wire() -> SimpleNamespace:
    """The pieces of a stream."""
    return SimpleNamespace(sse=sse, chunk=chunk, call=call, said=said, done=DONE, Answer=Answer)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield running
        running.is_over.set()
        running.shutdown()
        thread.join(10)


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
