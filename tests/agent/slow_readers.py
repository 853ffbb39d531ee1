"""Many streams of one event loop, whose readers are fast or slow, and what each of them holds."""

from __future__ import annotations

import gc
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from socket import SO_SNDBUF, SOL_SOCKET
from typing import Any

import anyio
import anyio.abc
import anyio.lowlevel

from amplifier_agent import Agent, Result, TextDelta

PIECE_CHARS = 8_000
"""Characters of each delta of a server."""
SEND_BYTES = 16_384
"""What the system may hold of a stream on the side of the server, which it doubles."""
QUIET_STEPS = 200
"""Steps of the event loop without a further byte after which nothing more comes by itself."""
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


class CountingServer:
    """Writes as many deltas as a prompt says, each as soon as the stream takes it."""

    def __init__(self) -> None:
        self.url = ""
        self.written: dict[str, int] = {}
        """The bytes that each stream took, by its prompt."""

    async def serve(self, client: anyio.abc.SocketStream) -> None:
        """Answer one request: `NAME DELTAS`."""
        client.extra(anyio.abc.SocketAttribute.raw_socket).setsockopt(
            SOL_SOCKET, SO_SNDBUF, SEND_BYTES
        )
        async with client:
            request = b""
            while not request.endswith(b"}"):
                request += await client.receive()
            prompt = json.loads(request.partition(b"\r\n\r\n")[2])["messages"][-1]["content"]
            self.written[prompt] = 0
            try:
                await client.send(_HEAD)
                for number in range(int(prompt.split()[1])):
                    await self._write(client, prompt, {"content": piece(number)}, None)
                await self._write(client, prompt, {}, "stop")
                await client.send(_enclose(b"data: [DONE]\n\n") + b"0\r\n\r\n")
            except anyio.BrokenResourceError:  # its reader left
                pass

    async def _write(
        self, client: anyio.abc.SocketStream, prompt: str, delta: dict[str, str], end: str | None
    ) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": end}
        event = {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}
        written = _enclose(b"data: %b\n\n" % json.dumps(event).encode())
        await client.send(written)
        self.written[prompt] += len(written)

    async def wait_until_quiet(self) -> None:
        """Wait until no stream takes a further byte."""
        quiet, before = 0, -1
        while quiet < QUIET_STEPS:
            await anyio.lowlevel.checkpoint()
            total = sum(self.written.values())
            quiet, before = (quiet + 1 if total == before else 0), total


@dataclass
class Reader:
    """Reads one stream."""

    prompt: str
    pauses_after: int | None
    """After how many deltas it waits; None for never."""
    paused: anyio.Event = field(default_factory=anyio.Event)
    goes_on: anyio.Event = field(default_factory=anyio.Event)
    texts: list[str] = field(default_factory=list[str])
    last: Any = None

    async def read(self, agent: Agent[None]) -> None:
        """Read to the end, with a pause."""
        async with agent.stream(self.prompt) as events:
            async for event in events:
                self.last = event
                if isinstance(event, TextDelta):
                    self.texts.append(event.text[:20])
                if len(self.texts) == self.pauses_after and not self.paused.is_set():
                    self.paused.set()
                    await self.goes_on.wait()

    def check_whole(self) -> None:
        """Everything came, in its order, and the result at the end."""
        deltas = int(self.prompt.split()[1])
        assert self.texts == [piece(number)[:20] for number in range(deltas)]
        assert isinstance(self.last, Result)
        assert self.last.text == "".join(map(piece, range(deltas)))


@asynccontextmanager
async def counting_server() -> AsyncGenerator[CountingServer]:
    """A server until the end of the context."""
    server = CountingServer()
    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1", backlog=2048) as listener,
        anyio.create_task_group() as group,
    ):
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
        server.url = f"http://127.0.0.1:{port}/v1"
        group.start_soon(listener.serve, server.serve)
        yield server
        group.cancel_scope.cancel()


def agent_of(server: CountingServer) -> Agent[None]:
    """An agent that may have any number of streams at this server."""
    config = {
        "base_url": server.url,
        "api_key": "none",
        "default_model": "m",
        "max_retries": 0,
        "max_concurrent_requests": 10_000,
        "prices": {"*": {"input": 0, "output": 0}},
    }
    return Agent(plan={"providers": [{"module": "provider-openai-chat", "config": config}]})


def count_deltas() -> int:
    """How many deltas are held in the process, by whomever."""
    return sum(type(each) is TextDelta for each in gc.get_objects())


def piece(number: int) -> str:
    """The text of a delta."""
    return f"{number:<{PIECE_CHARS}}"


def _enclose(event: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(event), event)
