"""The pieces in which a provider yields an answer, as the chunks of `process_stream`."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import anyio.lowlevel

from amplifier_core.content_models import ThinkingContent
from amplifier_core.message_models import (
    ChatResponse,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolCallBlock,
)
from amplifier_stream import AgentEvent, ChunkCall, StreamChunk

from ..running.closing import closing
from .response_facts import tool_calls_of

_WORD = re.compile(r"\s*\S+|\s+")


@dataclass(frozen=True)
class OtherBlock(AgentEvent):
    """A block of a response that is neither text nor thinking nor a call; agents do not see it."""

    block: Any


@dataclass(frozen=True)
class DroppedCall(AgentEvent):
    """A native call that its provider took back; agents do not see it."""

    index: int
    """Its index in the chunks."""


def is_piece(item: object) -> bool:
    """Whether a provider may yield this."""
    return isinstance(item, str | StreamChunk | AgentEvent | ChatResponse)


def text_of_piece(piece: object) -> str:
    """Return the text of the answer in a piece; empty for thinking, calls and events."""
    if isinstance(piece, str):
        return piece
    if isinstance(piece, StreamChunk) and piece.type == "message":
        return piece.content
    return ""


class Pieces:
    """The pieces of one answer as chunks, and the response that they end in.

    What counts is the response: what it adds to the pieces follows, and a text that differs from
    its text is taken back.
    """

    def __init__(
        self,
        source: AsyncIterator[Any],
        after_word: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Take the pieces of one answer.

        Args:
            source: Texts, chunks and events, at the end perhaps the response.
            after_word: Is awaited after each word of an answer that is a response alone; None for
                no words.
        """
        self.response: ChatResponse | None = None
        """The response, once it is there."""
        self.is_streamed = False
        """Whether a text, a thought or a call came before the response."""
        self.is_broken = False
        """Whether the answer failed or was cancelled."""
        self.call_index: int | None = None
        """The index of the native call that the latest chunk belongs to."""
        self._source = source
        self._after_word = after_word
        self._texts: list[tuple[int | None, str]] = []
        self._has_thinking = False
        self._next_call = 0
        self._last: StreamChunk | None = StreamChunk(finished=True)
        """The last chunk, if the answer ended here."""

    async def chunks(self) -> AsyncGenerator[StreamChunk | AgentEvent]:
        """Yield the chunks. An answer is whole that ends in text, a response or a finished chunk."""
        try:
            async with closing(self._read_chunks()) as chunks:
                async for chunk in chunks:
                    self.is_broken = self.is_broken or getattr(chunk, "error", None) is not None
                    yield chunk
        except BaseException:
            self.is_broken = True
            raise

    async def _read_chunks(self) -> AsyncGenerator[StreamChunk | AgentEvent]:
        async with closing(self._source) as pieces:
            async for piece in pieces:
                if isinstance(piece, ChatResponse):
                    self.response = piece
                    continue
                for chunk in self._read(piece):
                    yield chunk
        if self.response is not None:
            async with closing(self._read_rest(self.response)) as rest:
                async for chunk in rest:
                    yield chunk
        elif self._last is not None:
            yield self._last

    def _read(self, piece: Any) -> Iterator[StreamChunk | AgentEvent]:
        if isinstance(piece, AgentEvent):
            yield piece
            return
        chunk = StreamChunk(piece) if isinstance(piece, str) else piece
        is_whole = isinstance(piece, str) or chunk.finished
        self._last = StreamChunk(finished=True) if is_whole else None
        if chunk.finished:
            # A response may follow, which adds what was not yielded.
            self._last = replace(chunk, content="", type="message", call=None)
            chunk = replace(chunk, finished=False, judged_calls=())
        yield from self._note_chunk(chunk)

    def _note_chunk(self, chunk: StreamChunk) -> Iterator[StreamChunk | AgentEvent]:
        self.call_index = None
        if chunk.type == "tool_call":
            self.call_index = chunk.call.index if chunk.call else 0
            self._next_call = max(self._next_call, self.call_index + 1)
        elif chunk.type == "thinking":
            self._has_thinking = self._has_thinking or bool(chunk.content)
        elif chunk.dropped:
            self._texts = [texts for texts in self._texts if texts[0] != chunk.block_index]
        elif chunk.content:
            self._texts.append((chunk.block_index, chunk.content))
        self.is_streamed = self.is_streamed or bool(chunk.content or chunk.call)
        yield chunk
        if chunk.dropped and self.call_index is not None:
            yield DroppedCall(self.call_index)

    async def _read_rest(self, response: ChatResponse) -> AsyncGenerator[StreamChunk | AgentEvent]:
        is_streamed = self.is_streamed
        for chunk in self._text_to_correct(response) if is_streamed else ():
            yield chunk
        calls = native_calls(response)
        of_content = {block.id for block in response.content if isinstance(block, ToolCallBlock)}
        has_calls = self._next_call > 0
        for block in response.content:
            if isinstance(block, TextBlock):
                if not is_streamed:
                    after_word = self._after_word or anyio.lowlevel.checkpoint
                    for text in _WORD.findall(block.text) if self._after_word else [block.text]:
                        yield StreamChunk(text)
                        await after_word()
            elif isinstance(block, ThinkingBlock):
                if not self._has_thinking:
                    yield StreamChunk(block.thinking, type="thinking")
            elif not isinstance(block, ToolCallBlock):
                yield OtherBlock(block)
            elif not has_calls:
                for call in calls:
                    if call["id"] == block.id:
                        yield self._call(call)
        for call in calls:
            if not has_calls and call["id"] not in of_content:
                yield self._call(call)
        for text in () if self._has_thinking else _thoughts_for_display(response):
            yield StreamChunk(text, type="thinking")
        last = self._last or StreamChunk()
        yield replace(last, finished=True, judged_calls=calls)

    def _text_to_correct(self, response: ChatResponse) -> Iterator[StreamChunk]:
        """Yield what is needed so that the text becomes that of the response."""
        whole = "".join(block.text for block in response.content if isinstance(block, TextBlock))
        texts = self._texts
        if all(block is not None for block, _ in texts):
            texts = sorted(texts, key=lambda each: each[0] or 0)
        text = "".join(piece for _, piece in texts)
        if whole.strip() == text.strip():
            return
        if whole.startswith(text):
            yield StreamChunk(whole[len(text) :], block_index=texts[-1][0] if texts else None)
            return
        for block in dict.fromkeys(block for block, _ in texts):
            yield StreamChunk(block_index=block, dropped=True)
        if whole:
            yield StreamChunk(whole)

    def _call(self, call: dict[str, Any]) -> StreamChunk:
        index, self._next_call = self._next_call, self._next_call + 1
        self.call_index = index
        return StreamChunk(
            type="tool_call", call=ChunkCall(index, call["id"], call["name"], block=call)
        )


def _thoughts_for_display(response: ChatResponse) -> Iterator[str]:
    """Yield the thoughts that a response has in its blocks for displays alone."""
    if any(isinstance(block, ThinkingBlock) for block in response.content):
        return
    for block in getattr(response, "content_blocks", None) or ():
        if isinstance(block, ThinkingContent):
            yield block.text


def native_calls(response: ChatResponse) -> list[dict[str, Any]]:
    """Return the calls of a response in the form of a decoder's blocks."""
    return [_decode_call(call) for call in tool_calls_of(response)]


def _decode_call(call: ToolCall) -> dict[str, Any]:
    extra = call.model_extra or {}
    error = extra.get("error")
    return {
        "type": "tool_call",
        "id": call.id,
        "name": call.name,
        "arguments": None if error else call.arguments,
        "raw_arguments": str(extra.get("raw_arguments") or ""),
        "error": str(error) if error else None,
    }
