"""What it costs to read a `Message` from JSON: Pydantic's way, against the reference's model."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from side_by_side import Figure, Times, run, time_each

WORDS = "What a model says goes on for a while, and then it asks for a tool. "
TEXT: dict[str, Any] = {"role": "user", "content": WORDS}
TOOL_RESULT: dict[str, Any] = {
    "role": "tool",
    "content": WORDS * 30,
    "name": "grep",
    "tool_call_id": "call-1",
    "metadata": {"duration_ms": 12},
}
BLOCKS: dict[str, Any] = {
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": WORDS * 4, "signature": "EqQBCkYIAxgCKkA" * 20},
        {"type": "text", "text": WORDS},
        {
            "type": "tool_call",
            "id": "call-1",
            "name": "grep",
            "input": {"pattern": "def main", "path": "python", "limit": 20},
        },
    ],
}
MANY_BLOCKS: dict[str, Any] = {
    "role": "user",
    "content": [{"type": "text", "text": WORDS, "cache_control": {"type": "ephemeral"}}] * 20,
}
CASES = {
    "text": ("plain text", TEXT),
    "tool": ("the result of a tool", TOOL_RESULT),
    "blocks": ("thinking, text and a tool call", BLOCKS),
    "many": ("20 text blocks with a key of their own", MANY_BLOCKS),
}


async def read(message: dict[str, Any]) -> float:
    """The cost of reading the message once."""
    from pydantic import TypeAdapter

    from amplifier_core.message_models import Message

    adapter = TypeAdapter(Message)
    text = json.dumps(message).encode()
    assert adapter.validate_json(text).role == message["role"]

    async def repeat(times: int) -> None:
        for _ in range(times):
            adapter.validate_json(text)

    return await time_each(repeat)


def measure() -> Times:
    """All cases in one process."""
    return {name: asyncio.run(read(message)) for name, (_, message) in CASES.items()}


if __name__ == "__main__":
    figures = [Figure(what, name, share=1.1) for name, (what, _) in CASES.items()]
    run(__file__, measure, "TypeAdapter(Message).validate_json", figures)
