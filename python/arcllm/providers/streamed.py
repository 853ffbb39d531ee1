"""The chunks of the kernel's providers as deltas."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amplifier_guard import TerminalText

from ..deltas import Delta, RetractedDelta, TextDelta, ThinkingDelta, ToolCallDelta

if TYPE_CHECKING:
    from amplifier_stream import StreamChunk


@dataclass
class _OpenCall:
    """A call that is on its way."""

    index: int
    id: str = ""
    name: str = ""
    has_arguments: bool = False


class Deltas:
    """Makes the deltas of one answer."""

    def __init__(self) -> None:
        """Begin an answer."""
        self._calls: dict[int, _OpenCall] = {}

    def make_delta(self, chunk: StreamChunk) -> Delta | None:
        """Return the delta of a chunk; None if it adds nothing."""
        block = chunk.block_index or 0
        if chunk.call is not None:
            block = chunk.call.index
        if chunk.dropped:
            return RetractedDelta(block)
        if chunk.type == "tool_call":
            return self._of_call(chunk)
        if not chunk.content:
            return None
        kind = ThinkingDelta if chunk.type == "thinking" else TextDelta
        return kind(chunk.content, block)

    def _of_call(self, chunk: StreamChunk) -> ToolCallDelta | None:
        call = chunk.call
        if call is None:
            return None
        known = self._calls.get(call.index)
        is_new = known is None
        if known is None:
            known = self._calls[call.index] = _OpenCall(len(self._calls))
        known.id, known.name = call.id or known.id, call.name or known.name
        more = chunk.content
        if not more and call.block is not None and not known.has_arguments:
            # Some services send a call as a whole.
            arguments = call.block.get("arguments")
            more = call.block.get("raw_arguments") or json.dumps(arguments or {})
        known.has_arguments = known.has_arguments or bool(more)
        if not more and not is_new:
            return None
        id, name = TerminalText.line(known.id), TerminalText.line(known.name)
        return ToolCallDelta(known.index, id, name, more, call.index)
