"""What it costs to check a whole message: by the guard, and by Pydantic's model of it alone.

Both get the same bytes or the same plain data. Pydantic makes a model; the guard makes a message
that it held to its limits and checked. Suspicious patterns are looked for when somebody reads the
findings, which the rows `findings read` do for every message.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from side_by_side import Figure, Times, run, time_each

WORDS = "What a model says goes on for a while, and then it asks for a tool. "
CALL: dict[str, Any] = {
    "type": "tool_use",
    "id": "toolu_01A09q90qw90lq917835lq9",
    "name": "grep",
    "input": {"pattern": "def main", "path": "python", "limit": 20, "flags": ["-n", "-i"]},
}
MIXED: list[dict[str, Any]] = [
    {"type": "thinking", "content": WORDS * 4, "signature": "EqQBCkYIAxgCKkA" * 20},
    {"type": "text", "text": WORDS * 2},
    CALL,
    {"type": "tool_result", "tool_use_id": CALL["id"], "content": "main.py:12: def main():\n" * 40},
    {"type": "code", "language": "python", "text": "def main() -> None:\n    run()\n" * 20},
]
CASES: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "mixed": ("five blocks of five types", MIXED),
    "short": ("one short text", [{"type": "text", "text": WORDS}]),
    "many": ("100 text blocks", [{"type": "text", "text": WORDS}] * 100),
    "long": ("one text of 48,000 characters", [{"type": "text", "text": WORDS * 700}]),
    "large": ("blocks of 46,000 characters", [*MIXED, {"type": "text", "text": WORDS * 630}]),
}


async def cost(call: Callable[[], object]) -> float:
    """CPU seconds of one call."""

    async def repeat(times: int) -> None:
        for _ in range(times):
            call()

    return await time_each(repeat)


def measure() -> Times:
    """All cases in one process."""
    from amplifier_guard import ClaudeMessage, MessageProcessor

    processor = MessageProcessor()
    times: Times = {}
    for name, (_, blocks) in CASES.items():
        data = {"role": "assistant", "content": blocks}
        text = json.dumps(data).encode()
        model = ClaudeMessage.model_validate_json(text)
        assert processor.process_json(text).message == processor.process(data).message == model
        ways: dict[str, Callable[[], object]] = {
            "json": lambda text=text: processor.process_json(text),
            "json, findings read": lambda text=text: processor.process_json(text).findings,
            "json by pydantic": lambda text=text: ClaudeMessage.model_validate_json(text),
            "data": lambda data=data: processor.process(data),
            "data, findings read": lambda data=data: processor.process(data).findings,
            "data by pydantic": lambda data=data: ClaudeMessage.model_validate(data),
        }
        times |= {f"{name} {way}": asyncio.run(cost(call)) for way, call in ways.items()}
    return times


if __name__ == "__main__":
    figures = [
        Figure(
            f"{what}, {form}{read}",
            f"{name} {form}{read}",
            share=1,
            against=f"{name} {form} by pydantic",
        )
        for read in ("", ", findings read")
        for form in ("json", "data")
        for name, (what, _) in CASES.items()
    ]
    run(__file__, measure, "MessageProcessor, against ClaudeMessage", figures)
