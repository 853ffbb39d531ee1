"""Decodes responses of model providers: bytes in, events and one result out."""

from __future__ import annotations

from amplifier_core._engine import (
    StreamDecoder,
    StreamEvent,
    StreamResult,
    decode_error,
    status_kind,
    status_of_kind,
)

__all__ = [
    "StreamDecoder",
    "StreamEvent",
    "StreamResult",
    "decode_error",
    "status_kind",
    "status_of_kind",
]
