"""What a turn costs behind a long conversation: one tool, two model calls, one handler.

The reference has no loop of its own: its side runs the shape that public loops have, its
messages validated for each request.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import sys
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from typing import Any, ClassVar

from side_by_side import Figure, Times, run, time_each
from turn import public_turn

COUNTS = (500, 5_000)
BEGINNING = 10
"""Messages of a conversation that has just begun."""
QUESTION = "What is there?"


def conversation(count: int) -> list[dict[str, Any]]:
    """So many messages, alternating between user and assistant."""
    roles = ("user", "assistant")
    return [
        {"role": roles[number % 2], "content": f"message {number} of a long conversation"}
        for number in range(count)
    ]


class Look:
    """A tool that always finds the same."""

    name = "look"
    description = "Look around."
    input_schema: ClassVar[dict[str, Any]] = {"type": "object", "properties": {}}

    async def execute(self, given: dict[str, Any]) -> Any:
        from amplifier_core.models import ToolResult

        return ToolResult(output="nothing new")


class Scripted:
    """A provider that wants its tool called once, then answers."""

    name = "scripted"
    priority = 0

    async def complete(self, request: Any, **options: Any) -> Any:
        from amplifier_core.message_models import ChatResponse, TextBlock, ToolCall

        if request.messages[-1].role == "tool":
            return ChatResponse(content=[TextBlock(text="Nothing new.")])
        call = ToolCall(id="1", name="look", arguments={})
        return ChatResponse(content=[], tool_calls=[call])

    def parse_tool_calls(self, response: Any) -> list[Any]:
        return response.tool_calls or []


async def silent(event: str, data: dict[str, Any]) -> None:
    """Hear of everything and say nothing."""


async def our_turn(history: list[dict[str, Any]]) -> Callable[[], Awaitable[object]]:
    """A turn of `loop-basic` and `context-simple` in a session of their own."""
    from amplifier_core import AmplifierSession, events

    config = {
        "session": {
            "orchestrator": {"module": "loop-basic"},
            "context": {"module": "context-simple", "config": {"max_tokens": 100_000_000}},
        }
    }
    session = AmplifierSession(config)
    await session.initialize()
    await session.coordinator.mount("providers", Scripted())
    await session.coordinator.mount("tools", Look())
    await session.coordinator.get("context").set_messages(history)
    for event in events.ALL_EVENTS:
        session.coordinator.hooks.register(event, silent, 0, name="silent")
    return lambda: session.execute(QUESTION)


async def their_turn(history: list[dict[str, Any]]) -> Callable[[], Awaitable[object]]:
    """The public shape over the same conversation."""
    from amplifier_core.message_models import ChatRequest, Message

    provider, messages = Scripted(), list(history)

    async def ask() -> None:
        shown = list(messages)
        request = ChatRequest(messages=[Message(**message) for message in shown])
        response = await provider.complete(request)
        if response.tool_calls:
            called = {"role": "assistant", "content": "", "tool_calls": []}
            messages.extend(
                (called, {"role": "tool", "content": "nothing new", "tool_call_id": "1"})
            )
        else:
            messages.append({"role": "assistant", "content": "Nothing new."})

    turn = public_turn(1, ask)

    async def converse() -> None:
        messages.append({"role": "user", "content": QUESTION})
        await turn()

    return converse


async def turns(count: int) -> float:
    """The cost of one turn behind so many messages."""
    has_loop = find_spec("amplifier_modules") is not None
    turn = await (our_turn if has_loop else their_turn)(conversation(count))

    async def repeat(times: int) -> None:
        for _ in range(times):
            await turn()

    return await time_each(repeat)


async def encoding(count: int) -> float:
    """The cost of writing the two requests of a turn, on our side."""
    if find_spec("amplifier_modules") is None:
        return 0.0
    from amplifier_core.message_models import ChatRequest, Message
    from amplifier_providers.anthropic.config import read_config
    from amplifier_providers.anthropic.wire_format import AnthropicFormat

    messages = [Message(**message) for message in conversation(count)]
    config = read_config({"api_key": "none"})
    if config is None:
        raise AssertionError("a key was given")

    encoder = AnthropicFormat(config)

    async def repeat(times: int) -> None:
        for _ in range(2 * times):
            encoder.encode(ChatRequest(messages=messages)).to_bytes()

    return await time_each(repeat)


def leave() -> None:
    """End this process at once: the reference's threads may crash it while it ends."""
    sys.stdout.flush()
    os._exit(0)


def measure() -> Times:
    """Both lengths, each in a loop of its own, and by how much more the longer one costs."""
    atexit.register(leave)
    beginning = asyncio.run(turns(BEGINNING))
    short, long = (asyncio.run(turns(count)) for count in COUNTS)
    few, many = (asyncio.run(encoding(count)) for count in COUNTS)
    return {
        "beginning": beginning,
        "short": short,
        "long": long,
        "growth": long - short,
        "encoding": many - few,
    }


if __name__ == "__main__":
    run(
        __file__,
        measure,
        "turn behind a conversation",
        [
            Figure("500 messages, 1 handler", "short", times_faster=10),
            Figure("5,000 messages, 1 handler", "long", times_faster=10),
            Figure(
                "5,000 messages, to 10 messages",
                "long",
                share=2,
                against="beginning",
            ),
            Figure(
                "growth between them, to that of the requests' encoding",
                "growth",
                share=1,
                against="encoding",
            ),
        ],
    )
