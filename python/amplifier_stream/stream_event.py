"""What happens to the content blocks of a response while it arrives."""

from __future__ import annotations

from amplifier_core._engine import StreamEvent

__all__ = ["StreamEvent"]
