"""Model responses decoded from their bytes, in Rust.

`StreamDecoder` turns the body of a provider's response, in chunks of any size, into block events
while it arrives and one `StreamResult` at its end; `decode_error` reads the body of a refusal;
`SseDecoder` and `NdjsonDecoder` are the framing alone.

    decoder = StreamDecoder("anthropic", response.status_code, response.headers)
    async for chunk in response.aiter_bytes():
        for event in decoder.feed(chunk):
            await hooks.emit(event.event, event.data)
    result = decoder.finish()
"""

from __future__ import annotations

try:
    from amplifier_stream.decoder import StreamDecoder, decode_error
    from amplifier_stream.framing import (
        NdjsonDecoder,
        SseDecoder,
        SseEvent,
        StreamLimitError,
        StreamLineError,
    )
    from amplifier_stream.stream_event import StreamEvent
    from amplifier_stream.stream_result import StreamResult
except ModuleNotFoundError as error:
    if error.name != "amplifier_core._engine":
        raise
    message = (
        "`amplifier_stream` needs the extension `amplifier_core._engine`, which is missing here"
    )
    raise ModuleNotFoundError(message, name=error.name) from None

__all__ = [
    "NdjsonDecoder",
    "SseDecoder",
    "SseEvent",
    "StreamDecoder",
    "StreamEvent",
    "StreamLimitError",
    "StreamLineError",
    "StreamResult",
    "decode_error",
]
