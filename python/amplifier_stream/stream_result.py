"""The result of a response."""

from __future__ import annotations

from amplifier_core._engine import StreamResult

__all__ = ["StreamResult"]
