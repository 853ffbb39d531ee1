"""What `complete` of the one-call client costs, against the official SDKs and LiteLLM.

Every side reads the same streamed answer from a server on this machine. `above` is what a call costs
beyond one of bare `httpx2` (LiteLLM: `httpx`) that reads the same bytes and does nothing with them.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from typing import Any

from model_server import model_server
from side_by_side import Figure, Times, import_time, run, time_each

DELTAS = 100
PROMPT = "Say something."
AT_ONCE = 1_000
PATHS = {"anthropic": "/v1/messages", "chat": "/v1/chat/completions"}

Call = Callable[[], Awaitable[object]]

PRICED = "claude-sonnet-4-5"
"""A model whose price is known, so that telemetry and budgets have something to count."""


def stack(folder: str) -> dict[str, Any]:
    """Every layer switched on; OpenTelemetry where it is installed, without a collector."""
    layers: dict[str, Any] = {
        "telemetry": True,
        "audit": True,
        "security": True,
        "budget": {"monthly_limit_usd": 100_000, "path": f"{folder}/budget.sqlite3"},
        "routing": {"models": ["anthropic:claude-haiku-4-5"], "rules": ["capability"]},
        "retry": True,
        "fallback": {"chain": ["anthropic:claude-haiku-4-5"]},
        "rate_limit": {"requests_per_minute": 1_000_000},
    }
    return layers | ({"otel": {"exporter": "none"}} if find_spec("opentelemetry") else {})


async def of(call: Call) -> float:
    """CPU seconds of one call."""

    async def repeat(times: int) -> None:
        for _ in range(times):
            await call()

    return await time_each(repeat)


def bare(client: Any, address: str) -> Call:
    """Reads the bytes of an answer."""

    async def call() -> None:
        body = {"messages": [{"role": "user", "content": PROMPT}]}
        async with client.stream("POST", address, json=body) as response:
            async for _ in response.aiter_bytes():
                pass

    return call


async def ours(server: str) -> Times:
    """Our client: bare, with its stack, and many calls at once."""
    import httpx2

    from arcllm import Message, load_model

    base = f"{server}/text/{DELTAS}"
    times: Times = {"import": import_time("from arcllm import load_model, Message")}
    messages = [Message(role="user", content=PROMPT)]
    addresses = {"anthropic": base, "chat": f"{base}/v1"}
    names = {"anthropic": "anthropic", "chat": "vllm"}
    async with httpx2.AsyncClient() as client:
        for dialect, path in PATHS.items():
            alone = await of(bare(client, base + path))
            async with load_model(
                names[dialect], "bench", base_url=addresses[dialect], api_key="none"
            ) as model:
                whole = await of(lambda model=model: model.complete(messages))
            times |= {f"{dialect} bare": alone, dialect: whole, f"{dialect} above": whole - alone}
    async with load_model("anthropic", "bench", base_url=base, api_key="none") as model:

        async def in_a_row(times: int) -> None:
            for _ in range(times * AT_ONCE):
                await model.complete(messages)

        async def together(times: int) -> None:
            for _ in range(times):
                await model.batch([messages] * AT_ONCE, limit=AT_ONCE)

        times["in a row"] = await time_each(in_a_row)
        times["at once"] = await time_each(together)
    os.environ |= {"ANTHROPIC_BASE_URL": base, "ANTHROPIC_API_KEY": "none"}
    with TemporaryDirectory() as folder:
        for case, layers in {"no stack": {}, "stack": stack(folder)}.items():
            async with load_model("anthropic", PRICED, **layers) as model:
                times[case] = await of(lambda model=model: model.complete(messages))
    return times


async def official(server: str) -> Times:
    """The SDKs of the vendors: streamed without their accumulators, and not streamed."""
    import anthropic
    import httpx2
    import openai

    times: Times = {"import openai": import_time("import openai")}
    message: Any = {"role": "user", "content": PROMPT}
    async with httpx2.AsyncClient() as client:
        for kind in ("text", "whole"):
            base, streams = f"{server}/{kind}/{DELTAS}", kind == "text"
            claude = anthropic.AsyncAnthropic(api_key="none", base_url=base)
            gpt = openai.AsyncOpenAI(api_key="none", base_url=f"{base}/v1")

            async def messages(claude: Any = claude, streams: bool = streams) -> None:
                answer = await claude.messages.create(
                    model="bench", max_tokens=100, messages=[message], stream=streams
                )
                if streams:
                    [event async for event in answer]

            async def chat(gpt: Any = gpt, streams: bool = streams) -> None:
                answer = await gpt.chat.completions.create(
                    model="bench", messages=[message], stream=streams
                )
                if streams:
                    [chunk async for chunk in answer]

            for dialect, call in {"anthropic": messages, "chat": chat}.items():
                alone = await of(bare(client, base + PATHS[dialect]))
                whole = await of(call)
                times |= {f"{dialect} {kind}": whole, f"{dialect} {kind} above": whole - alone}
    return times


async def litellm_calls(server: str) -> Times:
    """LiteLLM: streamed, without making one answer of the chunks, and not streamed."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it would fetch prices from the network
    import httpx
    import litellm

    times: Times = {"import litellm": import_time("import litellm")}
    message: Any = {"role": "user", "content": PROMPT}
    litellm.suppress_debug_info = True
    models = {"anthropic": "anthropic/bench", "chat": "openai/bench"}
    async with httpx.AsyncClient() as client:
        for kind in ("text", "whole"):
            base, streams = f"{server}/{kind}/{DELTAS}", kind == "text"
            addresses = {"anthropic": base, "chat": f"{base}/v1"}
            for dialect, path in PATHS.items():

                async def call(
                    model: str = models[dialect],
                    address: str = addresses[dialect],
                    streams: bool = streams,
                ) -> None:
                    answer: Any = await litellm.acompletion(
                        model=model,
                        messages=[message],
                        max_tokens=100,
                        stream=streams,
                        api_key="none",
                        api_base=address,
                    )
                    if streams:
                        [chunk async for chunk in answer]

                alone = await of(bare(client, base + path))
                whole = await of(call)
                times |= {f"litellm {dialect} {kind} above": whole - alone}
    return times


def measure() -> Times:
    """The side that is installed."""
    others = litellm_calls if find_spec("litellm") else official
    side = ours if find_spec("arcllm") else others
    with model_server() as address:
        return asyncio.run(side(address))


TITLES = {"anthropic": "Anthropic Messages", "chat": "Chat Completions"}

if __name__ == "__main__":
    run(
        __file__,
        measure,
        "one call",
        [
            *(
                Figure(
                    f"{title}, above bare httpx2, against the SDK {word}",
                    f"{dialect} above",
                    share=1 / 5,
                    peer=f"{dialect} {kind} above",
                )
                for dialect, title in TITLES.items()
                for kind, word in {"text": "streaming", "whole": "not streaming"}.items()
            ),
            *(
                Figure(
                    f"{title}, above a bare call, against LiteLLM {word}",
                    f"{dialect} above",
                    share=1 / 20,
                    peer=f"litellm {dialect} {kind} above",
                )
                for dialect, title in TITLES.items()
                for kind, word in {"text": "streaming", "whole": "not streaming"}.items()
            ),
            Figure("import, against openai", "import", share=1 / 4, peer="import openai"),
            Figure("import, against litellm", "import", share=1 / 10, peer="import litellm"),
            Figure("the whole stack, against none", "stack", share=2, against="no stack"),
            Figure("1,000 at once, against in a row", "at once", share=1.2, against="in a row"),
        ],
    )
