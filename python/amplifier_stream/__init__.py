"""Decodes the responses of model providers, in Rust.

`StreamDecoder` turns the body of a response, in chunks of any size, into block events while it
arrives and one `StreamResult` at the end. `decode_error` reads the body of an error response.
`SseDecoder` and `NdjsonDecoder` are the framing alone.

    decoder = StreamDecoder("anthropic", response.status_code, response.headers)
    async for chunk in response.aiter_bytes():
        for event in decoder.feed(chunk):
            await hooks.emit(event.event, event.data)
    result = decoder.finish()

`ThinkingParser` and `ToolCallParser` find thinking and tool calls that a model writes as tags into
its text. `process_stream` turns the chunks of an answer into events for an agent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from amplifier_core.extension import load_extension
from amplifier_core.late_names import LateNames

try:
    load_extension()
except ModuleNotFoundError as error:
    if error.name != "amplifier_core._engine":
        raise
    message = (
        "`amplifier_stream` needs the extension `amplifier_core._engine`, which is missing here"
    )
    raise ModuleNotFoundError(message, name=error.name) from None

if TYPE_CHECKING:
    from amplifier_stream.decoder import StreamDecoder, StreamEvent, StreamResult, decode_error
    from amplifier_stream.framing import (
        NdjsonDecoder,
        SseDecoder,
        SseEvent,
        StreamLimitError,
        StreamLineError,
    )
    from amplifier_stream.process import process_stream, process_stream_sync
    from amplifier_stream.process_chunk import (
        ChunkCall,
        StreamChunk,
        chunk_of,
        decoded_chunks,
        decoded_chunks_sync,
        last_chunk,
    )
    from amplifier_stream.process_event import (
        AgentEvent,
        CustomEvent,
        ErrorEvent,
        MessageContentEvent,
        MessageEndEvent,
        MessageStartEvent,
        ProcessedStream,
        RestartEvent,
        ThinkingContentEvent,
        ThinkingEndEvent,
        ThinkingStartEvent,
        ToolCallContentEvent,
        ToolCallEndEvent,
        ToolCallStartEvent,
    )
    from amplifier_stream.process_metrics import StreamMetrics
    from amplifier_stream.tag import (
        ParsedCall,
        ParsedContent,
        TagEvent,
        ThinkingFilter,
        ThinkingParser,
        ToolCallParser,
        coerce_arguments,
    )

__all__ = [
    "AgentEvent",
    "ChunkCall",
    "CustomEvent",
    "ErrorEvent",
    "MessageContentEvent",
    "MessageEndEvent",
    "MessageStartEvent",
    "NdjsonDecoder",
    "ParsedCall",
    "ParsedContent",
    "ProcessedStream",
    "RestartEvent",
    "SseDecoder",
    "SseEvent",
    "StreamChunk",
    "StreamDecoder",
    "StreamEvent",
    "StreamLimitError",
    "StreamLineError",
    "StreamMetrics",
    "StreamResult",
    "TagEvent",
    "ThinkingContentEvent",
    "ThinkingEndEvent",
    "ThinkingFilter",
    "ThinkingParser",
    "ThinkingStartEvent",
    "ToolCallContentEvent",
    "ToolCallEndEvent",
    "ToolCallParser",
    "ToolCallStartEvent",
    "chunk_of",
    "coerce_arguments",
    "decode_error",
    "decoded_chunks",
    "decoded_chunks_sync",
    "last_chunk",
    "process_stream",
    "process_stream_sync",
]

_names = LateNames(
    __name__,
    {
        "decoder": "StreamDecoder StreamEvent StreamResult decode_error",
        "framing": "NdjsonDecoder SseDecoder SseEvent StreamLimitError StreamLineError",
        "process": "process_stream process_stream_sync",
        "process_chunk": (
            "ChunkCall StreamChunk chunk_of decoded_chunks decoded_chunks_sync last_chunk"
        ),
        "process_event": (
            "AgentEvent CustomEvent ErrorEvent MessageContentEvent MessageEndEvent "
            "MessageStartEvent ProcessedStream RestartEvent ThinkingContentEvent ThinkingEndEvent "
            "ThinkingStartEvent ToolCallContentEvent ToolCallEndEvent ToolCallStartEvent"
        ),
        "process_metrics": "StreamMetrics",
        "tag": (
            "ParsedCall ParsedContent TagEvent ThinkingFilter ThinkingParser ToolCallParser "
            "coerce_arguments"
        ),
    },
)


def __getattr__(name: str) -> object:
    return _names.get(name)


def __dir__() -> list[str]:
    return _names.list_names()
