"""The blocks of an answer for displays, from its events."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from amplifier_core.events import CONTENT_BLOCK_DELTA, CONTENT_BLOCK_END, CONTENT_BLOCK_START
from amplifier_providers.answers.block_record import block_record
from amplifier_providers.answers.pieces import DroppedCall, OtherBlock
from amplifier_providers.answers.wrapped_blocks import BlockUnwrapper
from amplifier_providers.answers.wrapped_calls import unwrap_record
from amplifier_stream import (
    AgentEvent,
    MessageContentEvent,
    MessageEndEvent,
    RestartEvent,
    ThinkingContentEvent,
    ThinkingEndEvent,
    ThinkingStartEvent,
    ToolCallContentEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
)

from .blocks import Emitter, aborted_end, block_records, record_deltas
from .response import block_dict

if TYPE_CHECKING:
    from amplifier_core.message_models import ChatResponse, ToolCall


@dataclass
class _Text:
    """A block of text or thinking that is shown."""

    kind: str
    index: int
    text: str = ""


@dataclass
class _Call:
    """A call that has begun."""

    id: str | None = None
    name: str | None = None
    index: int | None = None
    """The index of its block, once that has begun."""
    has_deltas: bool = False
    is_native: bool = False


@dataclass
class Display:
    """Emits start, deltas and end of each block in their order; tags are in none of them."""

    hooks: Emitter
    with_deltas: bool
    drops_blanks: bool
    """Whether blank text between calls is left out, as in the response."""
    wrapper: str | None = None
    """The tool through which the model calls those that the request does not describe."""
    response: ChatResponse | None = None
    """The response, once it is there: it knows more of its blocks."""
    is_broken: bool = False
    """Whether the answer failed or was cancelled."""
    _next: int = 0
    _open: _Text | None = None
    _shown: list[_Text] = field(default_factory=list[_Text])
    _blank: str = ""
    _calls: defaultdict[int, _Call] = field(default_factory=lambda: defaultdict(_Call))
    """The calls by their numbers; the start of one may never come, as what emitted it was cancelled."""
    _unwrapper: BlockUnwrapper | None = field(init=False)

    def __post_init__(self) -> None:
        """Begin with no call."""
        self._unwrapper = None if self.wrapper is None else BlockUnwrapper(self.wrapper)

    async def show(self, event: AgentEvent, call: ToolCall | None = None) -> None:
        """Emit what an event shows; `call` is the call that it ends."""
        match event:
            case MessageContentEvent(content=text):
                await self._add("text", text)
            case ThinkingStartEvent():
                await self._close()
            case ThinkingContentEvent(content=text):
                await self._add("thinking", text)
            case ThinkingEndEvent() | MessageEndEvent():
                await self._close()
            case ToolCallStartEvent(index=number, id=call_id, name=name):
                # Known before anything is awaited: the call is ended also where that is cancelled.
                self._calls[number] = _Call(call_id, name, is_native=name is not None)
                await self._close()
                if name is not None:
                    await self._begin_call(self._calls[number])
            case ToolCallContentEvent(index=number, content=text, name=name):
                await self._continue_call(self._calls[number], text, name)
            case ToolCallEndEvent(index=number):
                await self._end_call(self._calls[number], call)
            case RestartEvent(content_type=kind):
                await self._restart("text" if kind == "message" else "thinking")
            case DroppedCall(index=number):
                await self._drop_call(number)
            case OtherBlock(block=block):
                await self._show_other(block)
            case _:
                pass

    async def skip_block(self) -> None:
        """Leave out a block that nobody gets to see; it has an index all the same."""
        await self._close()
        self._take_index()

    async def abort(self) -> None:
        """End the text or thinking that is open, of an answer that failed or was cancelled."""
        block, self._open = self._open, None
        if block is not None:
            place = {"block_type": block.kind, "block_index": block.index}
            await self.hooks.emit_last(CONTENT_BLOCK_END, aborted_end(place, block.text))

    async def _add(self, kind: str, text: str) -> None:
        if self._open is None or self._open.kind != kind:
            if kind == "text" and self.drops_blanks:
                text = self._blank + text
                self._blank = "" if text.strip() else text
                if self._blank:
                    return
            await self._close()
            self._open = _Text(kind, self._take_index())
            self._shown.append(self._open)
            await self._emit(CONTENT_BLOCK_START, self._open, metadata=None)
        self._open.text += text
        if self.with_deltas:
            await self._emit(CONTENT_BLOCK_DELTA, self._open, delta=text)

    async def _close(self) -> None:
        if self.is_broken:
            await self.abort()
            return
        block, self._open, self._blank = self._open, None, ""
        if block is not None:
            await self._emit(CONTENT_BLOCK_END, block, block=self._record(block))

    def _record(self, block: _Text) -> dict[str, Any]:
        """Return the block as the response has it if it is there."""
        for record, _ in block_records(self.response) if self.response else ():
            if record.get("type") == block.kind and record.get("text") == block.text:
                return record
        return block_record({"type": block.kind, "text": block.text})

    async def _restart(self, kind: str) -> None:
        self._open, self._blank = None, ""
        for block in [block for block in self._shown if block.kind == kind]:
            self._shown.remove(block)
            await self._emit(CONTENT_BLOCK_END, block, block={"type": kind}, dropped=True)

    async def _begin_call(self, call: _Call) -> None:
        if call.index is None:
            await self._close()
            call.index = self._take_index()
            known = {"id": call.id, "name": call.name}
            metadata = {key: value for key, value in known.items() if value} or None
            await self._emit_call(CONTENT_BLOCK_START, call, metadata=metadata)

    async def _continue_call(self, call: _Call, text: str, name: str | None) -> None:
        call.name = call.name or name
        if name is not None:
            await self._begin_call(call)
        # What is between tags is not the arguments alone: those follow when the call has ended.
        if call.is_native and text and self.with_deltas:
            call.has_deltas = True
            await self._emit_call(CONTENT_BLOCK_DELTA, call, partial_json=text)

    async def _end_call(self, call: _Call, ended: ToolCall | None) -> None:
        if ended is None:
            return
        call.id, call.name = ended.id, ended.name
        await self._begin_call(call)
        block = {"type": "tool_call", **ended.model_dump(exclude_none=True)}
        record = self._record_of_call(block_record(block))
        if self._unwrapper is not None and self.wrapper is not None:
            record = unwrap_record(record, self.wrapper)
            for name, shown in self._unwrapper.release(call.index, record):
                await self.hooks.emit(name, shown)
        if self.with_deltas and not call.has_deltas:
            for delta in record_deltas(record, in_words=False):
                await self._emit_call(CONTENT_BLOCK_DELTA, call, **delta)
        await self._emit_call(CONTENT_BLOCK_END, call, block=record)

    def _record_of_call(self, ended: dict[str, Any]) -> dict[str, Any]:
        for record, _ in block_records(self.response) if self.response else ():
            if record.get("type") == "tool_call" and record.get("id") == ended["id"]:
                return record
        return ended

    async def _drop_call(self, number: int) -> None:
        call = self._calls.get(number)
        if call is not None and call.index is not None:
            block = {"type": "tool_call"}
            await self._emit_call(CONTENT_BLOCK_END, call, block=block, dropped=True)

    async def _show_other(self, block: Any) -> None:
        await self._close()
        record = block_record(block_dict(block))
        place = {"block_type": record.get("type"), "block_index": self._take_index()}
        raw = getattr(block, "raw", None)
        await self.hooks.emit(CONTENT_BLOCK_START, {**place, "metadata": raw})
        if self.with_deltas:
            for delta in record_deltas(record, in_words=False):
                await self.hooks.emit(CONTENT_BLOCK_DELTA, {**place, **delta})
        await self.hooks.emit(CONTENT_BLOCK_END, {**place, "block": record})

    def _take_index(self) -> int:
        index, self._next = self._next, self._next + 1
        return index

    async def _emit(self, event: str, block: _Text, /, **more: Any) -> None:
        place = {"block_type": block.kind, "block_index": block.index}
        await self.hooks.emit(event, {**place, **more})

    async def _emit_call(self, event: str, call: _Call, /, **more: Any) -> None:
        data = {"block_type": "tool_call", "block_index": call.index, **more}
        if self._unwrapper is None:
            await self.hooks.emit(event, data)
            return
        for name, shown in self._unwrapper.take(event, data):
            await self.hooks.emit(name, shown)
