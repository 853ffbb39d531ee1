"""Events of content blocks while a response arrives."""

from __future__ import annotations

from amplifier_core._engine import StreamEvent

__all__ = ["StreamEvent"]
