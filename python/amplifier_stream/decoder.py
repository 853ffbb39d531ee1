"""Decodes responses of model providers: bytes in, events and one result out."""

from __future__ import annotations

from amplifier_core._engine import StreamDecoder, decode_error

__all__ = ["StreamDecoder", "decode_error"]
