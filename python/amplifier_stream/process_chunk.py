"""The chunks of an answer, and how the events of a decoder become chunks."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from amplifier_stream.decoder import StreamDecoder, StreamEvent, StreamResult
from amplifier_stream.tag import ThinkingFilter

__all__ = [
    "ChunkCall",
    "ChunkType",
    "StreamChunk",
    "chunk_of",
    "decoded_chunks",
    "decoded_chunks_sync",
    "last_chunk",
]

ChunkType = Literal["message", "thinking", "tool_call"]


@dataclass(frozen=True)
class ChunkCall:
    """The native call that a chunk belongs to."""

    index: int
    """Identifies the call among the calls of the answer."""
    id: str | None = None
    """The provider's id; a call that ends with another id is another call."""
    name: str | None = None
    """The name of the tool; a call that ends with another name is another call."""
    block: dict[str, Any] | None = None
    """The complete call from a decoder; it ends the call."""


@dataclass(frozen=True)
class StreamChunk:
    """A piece of an answer."""

    content: str = ""
    """The text; of a `tool_call` a fragment of its arguments."""
    role: str | None = None
    """The speaker; `assistant` if no chunk names one."""
    type: ChunkType = "message"
    """The kind of content."""
    finished: bool = False
    """Whether it is the last chunk of a whole answer."""
    error: Any = None
    """The error: an exception, a text or a dict; None if there is none."""
    usage: Any = None
    """The usage so far, as the provider counts it."""
    call: ChunkCall | None = None
    """The native call that the content belongs to."""
    block_index: int | None = None
    """The number of the block that text or thinking belongs to, which can be dropped by it."""
    dropped: bool = False
    """Whether the provider dropped that block, or that call: what was said of it is void."""
    judged_calls: Sequence[dict[str, Any]] = ()
    """In the last chunk: all native calls in order, as their decoder judged them at the end."""

    @property
    def is_error(self) -> bool:
        """Whether the chunk has an error."""
        return self.error is not None

    @property
    def is_thinking(self) -> bool:
        """Whether the content is thinking."""
        return self.type == "thinking"

    @property
    def is_last(self) -> bool:
        """Whether it is the last chunk of a whole answer."""
        return self.finished


_TYPES: dict[str, ChunkType] = {
    "text": "message",
    "thinking": "thinking",
    "tool_call": "tool_call",
}


class BlockEvent(Protocol):
    """What a chunk needs of an event: that of a decoder, or one that a provider has completed."""

    @property
    def block_type(self) -> str:
        """The kind of the block."""
        ...

    @property
    def block_index(self) -> int:
        """The number of the block."""
        ...

    @property
    def delta(self) -> str | None:
        """What was added to a text."""
        ...

    @property
    def partial_json(self) -> str | None:
        """What was added to the arguments of a call."""
        ...

    @property
    def metadata(self) -> dict[str, Any] | None:
        """What the start of the block says of it."""
        ...

    @property
    def block(self) -> dict[str, Any] | None:
        """The whole block, at its end."""
        ...

    @property
    def dropped(self) -> bool:
        """Whether the block is void."""
        ...


def chunk_of(event: BlockEvent) -> StreamChunk | None:
    """Return the chunk for an event of a block; None if the event adds nothing to the answer."""
    kind = _TYPES.get(event.block_type)
    if kind is None:
        return None
    if kind == "tool_call":
        content, call, block_index = event.partial_json or event.delta or "", _call_of(event), None
    else:
        content, call, block_index = event.delta or "", None, event.block_index
        if not content and not event.dropped:
            return None
    return StreamChunk(
        content, type=kind, call=call, block_index=block_index, dropped=event.dropped
    )


def last_chunk(result: StreamResult) -> StreamChunk:
    """Return the last chunk: it finishes a complete answer, and has the error and the usage."""
    is_whole = not result.truncated and result.error is None
    calls = [block for block in result.blocks if block["type"] == "tool_call"]
    return StreamChunk(
        finished=is_whole, error=result.error, usage=result.raw_usage, judged_calls=calls
    )


def decoded_chunks_sync(
    body: Iterable[bytes], decoder: StreamDecoder, thinking: ThinkingFilter | None = None
) -> Iterator[StreamChunk]:
    """Decode a response and yield its chunks while its bytes arrive.

    Args:
        body: The bytes of the response, in pieces of any size.
        decoder: A decoder of its dialect.
        thinking: Turns the text between thinking tags into thinking.
    """
    for data in body:
        yield from _make_chunks(decoder.feed(data), thinking)
    yield from _make_last_chunks(decoder, thinking)


async def decoded_chunks(
    body: AsyncIterable[bytes], decoder: StreamDecoder, thinking: ThinkingFilter | None = None
) -> AsyncIterator[StreamChunk]:
    """Decode a response and yield its chunks while its bytes arrive; see `decoded_chunks_sync`."""
    async for data in body:
        for chunk in _make_chunks(decoder.feed(data), thinking):
            yield chunk
    for chunk in _make_last_chunks(decoder, thinking):
        yield chunk


def _make_chunks(
    events: list[StreamEvent], thinking: ThinkingFilter | None
) -> Iterator[StreamChunk]:
    for event in thinking.feed(events) if thinking else events:
        chunk = chunk_of(event)
        if chunk is not None:
            yield chunk


def _make_last_chunks(
    decoder: StreamDecoder, thinking: ThinkingFilter | None
) -> Iterator[StreamChunk]:
    result = decoder.finish()
    if thinking is not None:
        result = thinking.finish(result)
    yield from _make_chunks(result.events, None)
    yield last_chunk(result)


def _call_of(event: BlockEvent) -> ChunkCall:
    if event.dropped:
        return ChunkCall(event.block_index)
    about = event.metadata or event.block or {}
    # A provider may send anything as the id or the name of a call.
    id, name = (
        about.get(key) if isinstance(about.get(key), str) else None for key in ("id", "name")
    )
    return ChunkCall(event.block_index, id, name, event.block)
