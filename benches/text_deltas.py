"""What a text delta costs from a model's server to the program, HTTP included, against other clients."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from importlib.util import find_spec

from model_server import model_server
from side_by_side import Figure, Times, run, time_each

DELTAS = 2_000
PROMPT = "Go on."

Turn = Callable[[], Awaitable[int]]
"""One answer from its request to its end; gives how many deltas there were."""


async def of_each(turn: Turn) -> float:
    """CPU seconds of one delta."""
    assert await turn() == DELTAS

    async def repeat(times: int) -> None:
        for _ in range(times):
            await turn()

    return await time_each(repeat) / DELTAS


async def ours(base: str) -> Times:
    """The decoder behind httpx2, as our providers use it."""
    import httpx2

    from amplifier_stream import StreamDecoder

    async with httpx2.AsyncClient(trust_env=False) as client:

        def turn(dialect: str, path: str) -> Turn:
            async def run_turn() -> int:
                count = 0
                async with client.stream("POST", base + path, json={}) as response:
                    decoder = StreamDecoder(dialect, response.status_code, dict(response.headers))
                    async for chunk in response.aiter_bytes():
                        for event in decoder.feed(chunk):
                            count += event.delta is not None
                result = decoder.finish()
                assert result.stop_reason == "end_turn"
                return count

            return run_turn

        return {
            "messages": await of_each(turn("anthropic", "/v1/messages")),
            "responses": await of_each(turn("responses", "/v1/responses")),
        }


async def peers(base: str) -> Times:
    """The official clients, an agent framework, and HTTP with JSON and nothing else."""
    import anthropic
    import httpx2
    import openai
    import orjson
    from pydantic_ai import Agent
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.anthropic import AnthropicProvider
    from pydantic_ai.providers.openai import OpenAIProvider

    claude = anthropic.AsyncAnthropic(base_url=base, api_key="none", max_retries=0)
    gpt = openai.AsyncOpenAI(base_url=f"{base}/v1", api_key="none", max_retries=0)
    client = httpx2.AsyncClient(trust_env=False)

    async def messages_stream() -> int:
        prompt = {"role": "user", "content": PROMPT}
        async with claude.messages.stream(
            model="claude-bench", max_tokens=100, messages=[prompt]
        ) as stream:
            return len([text async for text in stream.text_stream])

    async def responses_stream() -> int:
        async with gpt.responses.stream(model="gpt-bench", input=PROMPT) as stream:
            types = [event.type async for event in stream]
        return types.count("response.output_text.delta")

    def agent_turn(model: object) -> Turn:
        agent = Agent(model)

        async def run_turn() -> int:
            async with agent.run_stream(PROMPT) as answer:
                texts = answer.stream_text(delta=True, debounce_by=None)
                return len([text async for text in texts])

        return run_turn

    def bare(path: str) -> Turn:
        async def run_turn() -> int:
            count = 0
            rest = b""
            async with client.stream("POST", base + path, json={}) as response:
                async for chunk in response.aiter_bytes():
                    *events, rest = (rest + chunk).split(b"\n\n")
                    for event in events:
                        data = orjson.loads(event[event.index(b"data: ") + 6 :])
                        count += "delta" in data["type"] and data["type"] != "message_delta"
            return count

        return run_turn

    on_claude = AnthropicModel("claude-bench", provider=AnthropicProvider(anthropic_client=claude))
    on_gpt = OpenAIResponsesModel("gpt-bench", provider=OpenAIProvider(openai_client=gpt))
    async with claude, gpt, client:
        return {
            "anthropic": await of_each(messages_stream),
            "openai": await of_each(responses_stream),
            "pydantic-ai on anthropic": await of_each(agent_turn(on_claude)),
            "pydantic-ai on openai": await of_each(agent_turn(on_gpt)),
            "bare messages": await of_each(bare("/v1/messages")),
            "bare responses": await of_each(bare("/v1/responses")),
        }


def measure() -> Times:
    """This side: the peers where they are installed, else ours."""
    side = peers if find_spec("anthropic") else ours
    with model_server() as address:
        return asyncio.run(side(f"{address}/text/{DELTAS}"))


if __name__ == "__main__":
    run(
        __file__,
        measure,
        "a text delta over HTTP",
        [
            Figure("anthropic messages.stream", "messages", 20, peer="anthropic"),
            Figure("openai responses.stream", "responses", 20, peer="openai"),
            Figure("pydantic-ai on anthropic", "messages", 10, peer="pydantic-ai on anthropic"),
            Figure("pydantic-ai on openai", "responses", 10, peer="pydantic-ai on openai"),
            Figure("httpx2 and orjson, messages", "messages", share=2, peer="bare messages"),
            Figure("httpx2 and orjson, responses", "responses", share=2, peer="bare responses"),
        ],
    )
