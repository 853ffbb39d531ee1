"""What `service.py` compares: each client asks for a stream of deltas and for a short answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

PROMPT = "Go on."
BODY = {"model": "bench", "messages": [{"role": "user", "content": PROMPT}], "stream": True}


@dataclass
class Client:
    """How a service asks; many calls of it go on at once."""

    stream: Callable[[], Awaitable[list[str]]]
    """Gives the deltas of an answer, or its text as one."""
    ask: Callable[[], Awaitable[str]]
    """Gives the text of an answer."""


def our_agent(base: str) -> Any:
    """An agent whose provider is at this address."""
    from amplifier_agent import Agent

    config = {
        "base_url": base,
        "api_key": "none",
        "default_model": "bench",
        "max_retries": 0,
        "max_concurrent_requests": 10_000,
        "prices": {"*": {"input": 0, "output": 0}},
    }
    return Agent(plan={"providers": [{"module": "provider-openai-chat", "config": config}]})


@asynccontextmanager
async def agent_stream(base: str) -> AsyncIterator[Client]:
    """Ours: `Agent.stream`."""
    from amplifier_agent import TextDelta

    agent = our_agent(base)

    async def stream() -> list[str]:
        async with agent.stream(PROMPT) as events:
            return [event.text async for event in events if isinstance(event, TextDelta)]

    async def ask() -> str:
        return (await agent.run(PROMPT)).text

    yield Client(stream, ask)


@asynccontextmanager
async def agent_run(base: str) -> AsyncIterator[Client]:
    """Ours: `Agent.run`, which streams on the wire alone."""
    agent = our_agent(base)

    async def ask() -> str:
        return (await agent.run(PROMPT)).text

    async def stream() -> list[str]:
        return [await ask()]

    yield Client(stream, ask)


@asynccontextmanager
async def arcllm_stream(base: str) -> AsyncIterator[Client]:
    """Ours: one call, without a session."""
    from arcllm import TextDelta, load_model

    model = load_model("vllm", "bench", base_url=base, api_key="none")

    async def stream() -> list[str]:
        deltas = model.stream(PROMPT)
        return [delta.text async for delta in deltas if isinstance(delta, TextDelta)]

    async def ask() -> str:
        return (await model.complete(PROMPT)).content or ""

    yield Client(stream, ask)
    await model.close()


@asynccontextmanager
async def httpx2_alone(base: str) -> AsyncIterator[Client]:
    """One client of httpx2, which reads bytes."""
    import httpx2

    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=20)
    async with httpx2.AsyncClient(limits=limits, timeout=None) as client:

        async def stream() -> list[str]:
            async with client.stream("POST", f"{base}/chat/completions", json=BODY) as response:
                chunks = [chunk async for chunk in response.aiter_bytes()]
            deltas = list_texts(b"".join(chunks))
            assert len(chunks) >= len(deltas), "each delta came by itself"
            return deltas

        async def ask() -> str:
            response = await client.post(f"{base}/chat/completions", json=BODY)
            return "".join(list_texts(response.content))

        yield Client(stream, ask)


@asynccontextmanager
async def sockets_alone(base: str) -> AsyncIterator[Client]:
    """The streams of asyncio: the floor, which knows nothing of HTTP."""
    host, _, path = base.removeprefix("http://").partition("/")
    body = json.dumps(BODY).encode()
    head = f"POST /{path}/chat/completions HTTP/1.1\r\nhost: {host}\r\n"
    request = f"{head}content-length: {len(body)}\r\n\r\n".encode() + body
    name, _, port = host.partition(":")

    async def stream() -> list[str]:
        reader, writer = await asyncio.open_connection(name, int(port))
        writer.write(request)
        chunks: list[bytes] = []
        while not chunks or not chunks[-1].endswith(b"\r\n0\r\n\r\n"):
            chunks.append(await reader.read(2**16))
        writer.close()
        deltas = list_texts(b"".join(chunks))
        assert len(chunks) >= len(deltas), "each delta came by itself"
        return deltas

    async def ask() -> str:
        return "".join(await stream())

    yield Client(stream, ask)


def list_texts(body: bytes) -> list[str]:
    """The deltas in what was read, with or without the frames of HTTP chunks."""
    events = (line[6:] for line in body.splitlines() if line.startswith(b"data: {"))
    choices = (choice for event in events for choice in json.loads(event)["choices"])
    return [choice["delta"]["content"] for choice in choices if choice["delta"]]


@asynccontextmanager
async def openai_agents(base: str) -> AsyncIterator[Client]:
    """The runner of OpenAI's agents, without its tracing."""
    from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
    from openai import AsyncOpenAI

    set_tracing_disabled(disabled=True)
    async with AsyncOpenAI(base_url=base, api_key="none", max_retries=0, timeout=600) as client:
        agent = Agent(name="bench", model=OpenAIChatCompletionsModel("bench", client))

        async def stream() -> list[str]:
            return [
                event.data.delta
                async for event in Runner.run_streamed(agent, PROMPT).stream_events()
                if event.type == "raw_response_event"
                and event.data.type == "response.output_text.delta"
            ]

        async def ask() -> str:
            return (await Runner.run(agent, PROMPT)).final_output

        yield Client(stream, ask)


@asynccontextmanager
async def pydantic_ai(base: str) -> AsyncIterator[Client]:
    """The agent of `pydantic-ai`."""
    from openai import AsyncOpenAI
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    async with AsyncOpenAI(base_url=base, api_key="none", max_retries=0, timeout=600) as client:
        agent = Agent(OpenAIChatModel("bench", provider=OpenAIProvider(openai_client=client)))

        async def stream() -> list[str]:
            async with agent.run_stream(PROMPT) as answer:
                return [text async for text in answer.stream_text(delta=True, debounce_by=None)]

        async def ask() -> str:
            return (await agent.run(PROMPT)).output

        yield Client(stream, ask)


OURS: dict[str, Callable[[str], AbstractAsyncContextManager[Client]]] = {
    "Agent.stream": agent_stream,
    "Agent.run": agent_run,
    "arcllm.stream": arcllm_stream,
    "httpx2": httpx2_alone,
    "sockets": sockets_alone,
}
PEERS: dict[str, Callable[[str], AbstractAsyncContextManager[Client]]] = {
    "openai-agents": openai_agents,
    "pydantic-ai": pydantic_ai,
}
