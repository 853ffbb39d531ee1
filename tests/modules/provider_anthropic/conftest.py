"""A server that answers as it is told, and the pieces of a stream to tell it."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_providers.anthropic import AnthropicProvider
from amplifier_providers.anthropic.config import AnthropicConfig
from amplifier_providers.retries import Retries, RetrySettings

KEY = "sk-ant-very-secret"
MODEL = "claude-sonnet-4-5"
PRICES = {MODEL: {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75}}


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


def sse(*events: dict[str, Any]) -> bytes:
    return b"".join(
        f"event: {event['type']}\ndata: {json.dumps(event)}   \n\n".encode() for event in events
    )


def block(index: int, content: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": content},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


START = {
    "type": "message_start",
    "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5-20250929",
        "content": [], "stop_reason": None,
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 1,
                  "cache_creation_input_tokens": 2},
    },
}  # fmt: skip
THINKING = block(
    0,
    {"type": "thinking", "thinking": "", "signature": ""},
    {"type": "thinking_delta", "thinking": "Hm é"},
    {"type": "thinking_delta", "thinking": "."},
    {"type": "signature_delta", "signature": "sig"},
)
TEXT = block(1, {"type": "text", "text": ""}, {"type": "text_delta", "text": "Hello 😀"})
CALL = block(
    2,
    {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}},
    {"type": "input_json_delta", "partial_json": ""},
    {"type": "input_json_delta", "partial_json": '{"at": "\\u'},
    {"type": "input_json_delta", "partial_json": '00e9"}'},
)
END = [
    {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use", "stop_sequence": None},
        "usage": {"output_tokens": 30, "output_tokens_details": {"thinking_tokens": 20}},
    },
    {"type": "message_stop"},
]
WHOLE = sse(START, {"type": "ping"}, *THINKING, *TEXT, *CALL, *END)


@dataclass
class Answer:
    """What a server sends for one request."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "text/event-stream"})
    chunk: int = 1_000_000
    """Bytes a piece; each is sent on its own."""
    ending: str = "complete"
    """`complete`, `cut` (the connection breaks), `hang` (nothing more comes)."""


class Server:
    """Answers each request with the next of its answers, and keeps what was asked."""

    Answer = Answer

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.hung_up = threading.Event()
        self._over = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._threads = [threading.Thread(target=self._serve, daemon=True)]
        self._threads[0].start()

    def stop(self) -> None:
        self._over.set()
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for thread in self._threads:
            thread.join(10)

    def _serve(self) -> None:
        while not self._over.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._converse, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _converse(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as reader:
            line = reader.readline().decode().strip()
            headers: dict[str, str] = {}
            while (header := reader.readline().decode().strip()) != "":
                name, _, value = header.partition(": ")
                headers[name.lower()] = value
            body = reader.read(int(headers.get("content-length", "0")))
            self.requests.append((line, headers, body))
            try:
                self._send(connection, self.answers.pop(0))
            except OSError:
                self.hung_up.set()

    def _send(self, connection: socket.socket, answer: Answer) -> None:
        head = "".join(f"{name}: {value}\r\n" for name, value in answer.headers.items())
        connection.sendall(
            f"HTTP/1.1 {answer.status} X\r\nconnection: close\r\n"
            f"transfer-encoding: chunked\r\n{head}\r\n".encode()
        )
        for start in range(0, len(answer.body), answer.chunk):
            piece = answer.body[start : start + answer.chunk]
            connection.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))
        if answer.ending == "hang":
            while not self._over.is_set():
                connection.settimeout(0.05)
                try:
                    if connection.recv(1) == b"":
                        self.hung_up.set()
                        return
                except TimeoutError:
                    pass
        elif answer.ending == "complete":
            connection.sendall(b"0\r\n\r\n")


@pytest.fixture
def wire() -> SimpleNamespace:
    """The pieces of a stream, and the whole of one."""
    return SimpleNamespace(
        sse=sse,
        block=block,
        start=START,
        thinking=THINKING,
        text=TEXT,
        call=CALL,
        end=END,
        whole=WHOLE,
    )


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.stop()


Events = list[tuple[str, dict[str, Any]]]


class Hooks:
    def __init__(self) -> None:
        self.events: Events = []

    async def emit(self, event: str, data: dict[str, Any]) -> None:
        self.events.append((event, data))


@pytest.fixture
def hooks() -> Hooks:
    return Hooks()


@pytest.fixture
async def provider(server: Server, hooks: Hooks) -> Any:
    config = AnthropicConfig.model_validate(
        {
            "api_key": KEY,
            "base_url": server.url,
            "default_model": MODEL,
            "timeout": 5,
            "prices": PRICES,
        }
    )
    retries = Retries("anthropic", RetrySettings(max_retries=0), hooks)
    mounted = AnthropicProvider(config, hooks, retries=retries)
    yield mounted
    await mounted.close()
