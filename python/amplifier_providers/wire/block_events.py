"""Events of one answer as hooks get them: with ids, the names of the tools, and the wire's blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from amplifier_core.events import CONTENT_BLOCK_DELTA, CONTENT_BLOCK_END

from ..answers.block_record import block_record
from ..answers.wrapped_blocks import BlockUnwrapper
from ..answers.wrapped_calls import WRAPPER
from ..requests.requested_thinking import THOUGHTS
from .fields import JsonDict
from .wire_format import WireFormat

if TYPE_CHECKING:
    from amplifier_stream import StreamChunk, StreamEvent, StreamResult


@dataclass(frozen=True)
class CompletedEvent:
    """An event of a block as hooks get it."""

    block_type: str
    block_index: int
    timestamp: str | None = None
    delta: str | None = None
    partial_json: str | None = None
    metadata: dict[str, Any] | None = None
    block: dict[str, Any] | None = None
    dropped: bool = False


class BlockEvents:
    """Completes the events of one answer, and its blocks in the same way."""

    def __init__(
        self,
        new_id: Callable[[], str],
        wire_format: WireFormat,
        tool_names: Mapping[str, str],
        first_index: int = 0,
        *,
        hides_thoughts: bool = False,
    ) -> None:
        """Begin an answer.

        Args:
            new_id: Returns the id of a call that comes without one.
            wire_format: Knows the forms of a decoded block.
            tool_names: The names of tools by those that were sent in their place.
            first_index: The index of its first block, where it continues another answer.
            hides_thoughts: Whether nobody gets to see thoughts, as none were asked for.
        """
        self._hides_thoughts = hides_thoughts
        self._new_id = new_id
        self._raw_block = wire_format.raw_block
        self._shape_block = wire_format.shape_block
        self._tool_names = tool_names
        self._first_index = first_index
        self._ids: dict[int, str] = {}
        """The ids that were made, by the index of their block."""
        wrapper = WRAPPER.get()
        self._unwrapper = None if wrapper is None else BlockUnwrapper(wrapper)

    def visible_events(self, events: list[StreamEvent]) -> list[StreamEvent]:
        """Return the events that anybody gets to see."""
        if not self._hides_thoughts:
            return events
        return [event for event in events if event.block_type not in THOUGHTS]

    def list_events(self, event: StreamEvent) -> Sequence[tuple[str, dict[str, Any]]]:
        """Return the events that hooks get of one: those of the call that was meant."""
        named = self.complete_event(event)
        return (named,) if self._unwrapper is None else self._unwrapper.take(*named)

    def complete_event(self, event: StreamEvent) -> tuple[str, dict[str, Any]]:
        """Return the name and the payload of an event."""
        name, data = event.event, event.data
        if name == CONTENT_BLOCK_DELTA and not self._first_index:
            return name, data
        index: int = data["block_index"]
        data["block_index"] = index + self._first_index
        if name == CONTENT_BLOCK_DELTA:
            return name, data
        if name == CONTENT_BLOCK_END:
            block = data.get("block")
            if data.get("dropped"):
                self._ids.pop(index, None)
            if block is not None:
                raw = self._raw_block(block)
                block = self._shape_block(block)
                if block.get("type") == "tool_call":
                    block = self._name_call(block, index)
                data["block"] = block_record(block, raw)
        elif data.get("block_type") == "tool_call":
            data["metadata"] = self._name_call(data.get("metadata") or {}, index)
        return name, data

    def make_chunk(self, event: StreamEvent) -> StreamChunk | None:
        """Return the chunk for an event; None if it adds nothing to the answer that is seen."""
        from amplifier_stream import chunk_of

        if not self.visible_events([event]):
            return None
        _, data = self.complete_event(event)
        return chunk_of(CompletedEvent(**data))

    def list_blocks(self, result: StreamResult) -> list[tuple[JsonDict, JsonDict]]:
        """Return the blocks of the whole answer, each with its form on the wire."""
        made = iter([self._ids[index] for index in sorted(self._ids)])
        found: list[tuple[JsonDict, JsonDict]] = []
        for block in result.blocks:
            raw = self._raw_block(block)
            block = self._shape_block(block)
            if block.get("type") == "tool_call":
                call_id = block.get("id") or next(made, None) or self._new_id()
                block = {**block, "id": call_id, "name": self._name_tool(block)}
            found.append((block, raw))
        return found

    def _name_call(self, call: JsonDict, index: int) -> JsonDict:
        call_id = call.get("id") or self._ids.get(index)
        if not call_id:
            call_id = self._ids[index] = self._new_id()
        return {**call, "id": call_id, "name": self._name_tool(call)}

    def _name_tool(self, call: JsonDict) -> Any:
        name = call.get("name")
        return self._tool_names.get(name, name) if isinstance(name, str) else name
