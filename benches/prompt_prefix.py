"""What it costs a call with 200 messages to hash its prompt, compare it and predict its cache."""

from __future__ import annotations

import time
from typing import Any

from amplifier_core.message_models import ChatRequest, Message, TextBlock, ToolCallBlock, ToolSpec
from amplifier_providers.anthropic.config import read_config
from amplifier_providers.anthropic.wire_format import AnthropicFormat
from amplifier_providers.prompt.marked_cache import MarkedCache
from amplifier_providers.prompt.prompt import PromptReader
from amplifier_providers.prompt.watch import Conversation
from amplifier_providers.wire.body import WireRequest

MESSAGES = 200
TOOLS = 20
CALLS = 100


def write_messages(count: int) -> list[Message]:
    """Return questions, calls and results, each longer than a line."""
    messages = [Message(role="system", content="Be brief. " * 400)]
    for number in range(count // 4 + 1):
        call = ToolCallBlock(id=f"c{number}", name="tool_1", input={"at": number})
        messages.append(Message(role="user", content=f"{number}: what does it say? " * 5))
        messages.append(Message(role="assistant", content=[TextBlock(text="I look."), call]))
        messages.append(Message(role="tool", tool_call_id=f"c{number}", content="a line\n" * 80))
        messages.append(Message(role="assistant", content="It says nothing. " * 10))
    return messages


def measure_calls() -> tuple[list[float], list[float]]:
    """Return the seconds of encoding a request, and of all that is done about its prompt."""
    config = read_config({"api_key": "key"}, {})
    assert config is not None
    wire_format, reader = AnthropicFormat(config), PromptReader(reads_settings=True)
    conversation, cache = Conversation(), MarkedCache()
    messages = write_messages(MESSAGES + 4 * CALLS)
    schema: dict[str, Any] = {"type": "object", "properties": {"at": {"type": "integer"}}}
    tools = [
        ToolSpec(name=f"tool_{n}", description="Looks.", parameters=schema) for n in range(TOOLS)
    ]
    encoding: list[float] = []
    watching: list[float] = []
    for number in range(CALLS):
        request = ChatRequest(messages=messages[: MESSAGES + 2 + 4 * number], tools=tools)
        start = time.process_time()
        encoded: WireRequest = wire_format.encode(request, {})
        written = time.process_time()
        prompt = reader.read(encoded, tools)
        assert prompt is not None
        change = conversation.follow(prompt)
        forecast = cache.send(prompt, number)
        forecast.settle(forecast.tokens or 0, 2_000, 9_000, number)
        end = time.process_time()
        assert change is None
        encoding.append(written - start)
        watching.append(end - written)
    return sorted(encoding[1:]), sorted(watching[1:])


def main() -> None:
    """Print the medians."""
    encoding, watching = measure_calls()
    middle = CALLS // 2
    print(f"a request of {MESSAGES} to {MESSAGES + 4 * CALLS} messages and {TOOLS} tools")
    print(f"  encoded, its new blocks hashed   {encoding[middle] * 1e6:7.0f} µs")
    print(f"  compared and predicted           {watching[middle] * 1e6:7.0f} µs")


if __name__ == "__main__":
    main()
