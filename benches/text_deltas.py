"""What a text delta costs from a model's server to the program, HTTP included, against other clients."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from typing import Any

from model_server import model_server
from side_by_side import Figure, Times, run, time_each

DELTAS = 2_000
PROMPT = "Go on."

KINDS = {"text": "many in an HTTP chunk", "each": "an HTTP chunk each"}
"""How the deltas arrive."""

Turn = Callable[[], Awaitable[int]]
"""One answer from its request to its end; gives how many deltas there were."""


async def of_each(turn: Turn) -> float:
    """CPU seconds of one delta."""
    assert await turn() == DELTAS

    async def repeat(times: int) -> None:
        for _ in range(times):
            await turn()

    return await time_each(repeat) / DELTAS


class Place:
    """Where a provider is mounted, with hooks that hear each delta."""

    def __init__(self) -> None:
        from amplifier_core import HookRegistry

        self.hooks = HookRegistry()
        self.heard = 0
        self.provider: Any = None

        async def hear(event: str, data: dict[str, Any]) -> None:
            self.heard += 1

        self.hooks.register("content_block:delta", hear)

    async def mount(self, point: str, provider: Any, name: str | None = None) -> None:
        """Keep the provider."""
        self.provider = provider


async def ours(base: str) -> Times:
    """Our providers, from the socket to the event that a hook hears."""
    from amplifier_core.message_models import ChatRequest, Message
    from amplifier_providers import anthropic, ollama, openai, openai_chat

    request = ChatRequest(messages=[Message(role="user", content=PROMPT)])
    times: Times = {}
    for kind in KINDS:
        address = f"{base}/{kind}/{DELTAS}"
        for dialect, module, url in (
            ("messages", anthropic, address),
            ("responses", openai, f"{address}/v1"),
            ("chat", openai_chat, f"{address}/v1"),
            ("ollama", ollama, address),
        ):
            place = Place()
            config = {"api_key": "none", "base_url": url, "default_model": "bench"}
            close = await module.mount(place, config)

            async def run_turn(place: Place = place) -> int:
                before = place.heard
                await place.provider.complete(request)
                return place.heard - before

            times[f"{dialect}, {kind}"] = await of_each(run_turn)
            await close()
    return times


async def peers(base: str) -> Times:
    """The official clients, an agent framework, and HTTP with JSON and nothing else."""
    import anthropic
    import httpx2
    import openai
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.anthropic import AnthropicProvider
    from pydantic_ai.providers.openai import OpenAIProvider

    times: Times = {}
    for kind in KINDS:
        address = f"{base}/{kind}/{DELTAS}"
        claude = anthropic.AsyncAnthropic(base_url=address, api_key="none", max_retries=0)
        gpt = openai.AsyncOpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0)
        client = httpx2.AsyncClient(trust_env=False)
        on_claude = AnthropicModel(
            "claude-bench", provider=AnthropicProvider(anthropic_client=claude)
        )
        on_gpt = OpenAIProvider(openai_client=gpt)
        async with claude, gpt, client:
            turns: dict[str, Turn] = {
                "anthropic": lambda claude=claude: messages_stream(claude),
                "openai responses": lambda gpt=gpt: responses_stream(gpt),
                "openai chat": lambda gpt=gpt: chat_stream(gpt),
                "pydantic-ai messages": agent_turn(on_claude),
                "pydantic-ai responses": agent_turn(OpenAIResponsesModel("bench", provider=on_gpt)),
                "pydantic-ai chat": agent_turn(OpenAIChatModel("bench", provider=on_gpt)),
                "bytes": lambda client=client, address=address: bare(client, address),
            }
            if find_spec("ollama"):
                turns["ollama"] = lambda address=address: ollama_stream(address)
            for name, turn in turns.items():
                times[f"{name}, {kind}"] = await of_each(turn)
    return times


async def messages_stream(client: Any) -> int:
    """The deltas that the client of Anthropic gives."""
    prompt = {"role": "user", "content": PROMPT}
    async with client.messages.stream(
        model="claude-bench", max_tokens=100, messages=[prompt]
    ) as stream:
        return len([text async for text in stream.text_stream])


async def responses_stream(client: Any) -> int:
    """The deltas that the client of OpenAI gives of a response."""
    async with client.responses.stream(model="gpt-bench", input=PROMPT) as stream:
        types = [event.type async for event in stream]
    return types.count("response.output_text.delta")


async def chat_stream(client: Any) -> int:
    """The deltas that the client of OpenAI gives of a chat completion."""
    prompt = {"role": "user", "content": PROMPT}
    async with client.chat.completions.stream(model="gpt-bench", messages=[prompt]) as stream:
        types = [event.type async for event in stream]
    return types.count("content.delta")


async def ollama_stream(address: str) -> int:
    """The deltas that the client of Ollama gives."""
    import ollama

    client = ollama.AsyncClient(host=address, trust_env=False)
    prompt = {"role": "user", "content": PROMPT}
    parts = await client.chat(model="bench", messages=[prompt], stream=True)
    return len([part async for part in parts if part.message.content])


def agent_turn(model: object) -> Turn:
    """The deltas that pydantic-ai gives."""
    from pydantic_ai import Agent

    agent = Agent(model)

    async def run_turn() -> int:
        async with agent.run_stream(PROMPT) as answer:
            texts = answer.stream_text(delta=True, debounce_by=None)
            return len([text async for text in texts])

    return run_turn


async def bare(client: Any, address: str) -> int:
    """The events in what httpx2 alone reads."""
    async with client.stream("POST", f"{address}/v1/messages", json={}) as response:
        body = b"".join([chunk async for chunk in response.aiter_bytes()])
    return body.count(b"text_delta")


def measure() -> Times:
    """This side: the peers where they are installed, else ours."""
    side = peers if find_spec("pydantic_ai") else ours
    with model_server() as address:
        return asyncio.run(side(address))


FIGURES = [
    figure
    for kind in KINDS
    for dialect, client in (
        ("messages", "anthropic"), ("responses", "openai responses"), ("chat", "openai chat"),
    )
    for figure in (
        Figure(f"{client}, {KINDS[kind]}", f"{dialect}, {kind}", 20, peer=f"{client}, {kind}"),
        Figure(
            f"pydantic-ai {dialect}, {KINDS[kind]}",
            f"{dialect}, {kind}",
            10,
            peer=f"pydantic-ai {dialect}, {kind}",
        ),
    )
]  # fmt: skip
OLLAMA = [
    Figure(f"ollama, {said}", f"ollama, {kind}", share=None, peer=f"ollama, {kind}")
    for kind, said in KINDS.items()
]
HTTP = [
    Figure(f"httpx2 alone, {said}", f"messages, {kind}", share=None, peer=f"bytes, {kind}")
    for kind, said in KINDS.items()
]


if __name__ == "__main__":
    run(__file__, measure, "a text delta from the socket to its event", [*FIGURES, *OLLAMA, *HTTP])
