"""Sessions of models that write their calls as tags."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from event_sessions import Seen, add, opened

from amplifier_agent import Agent, BaseProvider
from amplifier_stream import ChunkCall, CustomEvent, StreamChunk

CALL = '<tool>{"tool_name": "add", "arguments": {"a": 1}}</tool>'


class Tagged(BaseProvider):
    """Answers with these pieces, and then with a word."""

    name = "tagged"

    def __init__(self, *pieces: Any) -> None:
        self._answers = [list(pieces), ["Done."]]

    async def chunks(self, request: Any, **options: Any) -> Any:
        for piece in self._answers.pop(0):
            if isinstance(piece, Exception):
                raise piece
            yield piece


async def of_tags(seen: Seen) -> None:
    """Answers with everything in them, one that starts again, and one that fails."""
    native = ChunkCall(9, "n1", "add")
    answers: list[list[Any]] = [
        [
            StreamChunk("Hm.", type="thinking"),
            StreamChunk(f"no {CALL}", block_index=1),
            StreamChunk(block_index=1, dropped=True),
            StreamChunk(f"I add. {CALL}<tool>{{", block_index=1),
            StreamChunk('{"a": 2}', type="tool_call", call=native),
            *(CustomEvent("own", data) for data in (None, 1, "a", {}, [])),
            StreamChunk(finished=True),
        ],
        ["Hm. ", ValueError("broken")],
    ]
    everything = Seen()
    for pieces in answers:
        agent = Agent(Tagged(*pieces), tools=[add], loop="loop-tagged")
        with suppress(ValueError):
            async with opened(everything, agent) as session:
                await session.run("Hi")
    for event, payloads in everything.payloads.items():
        if event.startswith("agent:"):
            seen.payloads[event] += payloads
