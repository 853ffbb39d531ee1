"""Server-sent events and NDJSON: bytes in, framed events and values out."""

from __future__ import annotations

from amplifier_core._engine import NdjsonDecoder, SseDecoder, SseEvent

__all__ = ["NdjsonDecoder", "SseDecoder", "SseEvent", "StreamLimitError", "StreamLineError"]


class StreamLimitError(ValueError):
    """A line, an event or the whole of a stream is longer than its limit."""


class StreamLineError(ValueError):
    """A line of an NDJSON stream is not one JSON value."""
