"""A stream that is read to its end, and compared with its response."""

from __future__ import annotations

import json
from typing import Any, Protocol

from amplifier_providers.running.closing import closing
from arcllm import LLMResponse
from arcllm.deltas import RetractedDelta, TextDelta, ThinkingDelta, ToolCallDelta
from arcllm.step import Call


class Streams(Protocol):
    """A step, or what is asked as one."""

    def stream(self, call: Call) -> Any:
        """Yield the answer as it arrives."""
        ...


async def streamed(step: Streams, call: Call) -> LLMResponse:
    """Return the response of a stream, of which all was shown before, and nothing else."""
    texts: dict[int, str] = {}
    thoughts: dict[int, str] = {}
    calls: dict[int, tuple[str, str, str]] = {}
    response: LLMResponse | None = None
    async with closing(step.stream(call)) as pieces:
        async for piece in pieces:
            assert response is None, "something came after the response"
            match piece:
                case TextDelta():
                    texts[piece.block] = texts.get(piece.block, "") + piece.text
                case ThinkingDelta():
                    thoughts[piece.block] = thoughts.get(piece.block, "") + piece.text
                case ToolCallDelta():
                    id, name, arguments = calls.get(piece.block, (piece.id, piece.name, ""))
                    assert (piece.id, piece.name) == (id, name)
                    calls[piece.block] = (id, name, arguments + piece.arguments)
                case RetractedDelta():
                    for shown in (texts, thoughts, calls):
                        shown.pop(piece.block, None)
                case LLMResponse():
                    response = piece
    assert response is not None, "the stream ended without a response"
    assert "".join(texts[block] for block in sorted(texts)) == (response.content or "")
    assert "".join(thoughts[block] for block in sorted(thoughts)) == (response.thinking or "")
    shown_calls = [(id, name, json.loads(said)) for id, name, said in calls.values()]
    assert shown_calls == [(made.id, made.name, made.arguments) for made in response.tool_calls]
    return response
