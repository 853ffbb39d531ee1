"""Server-sent events: bytes in, framed events out."""

from __future__ import annotations

from amplifier_core._engine import SseDecoder, SseEvent

__all__ = ["SseDecoder", "SseEvent", "StreamLimitError"]


class StreamLimitError(ValueError):
    """A line or an event of a stream is longer than its limit."""
