"""Where the events of an answer are emitted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol


class Emitter(Protocol):
    """Emits the events of a turn."""

    has_listeners: Callable[[str], bool]
    """Whether emitting an event has an effect."""

    async def emit(self, event: str, data: dict[str, Any]) -> None:
        """Emit an event that hooks can only observe."""
        ...

    coordinator: Any
    """The session's coordinator; may be None."""

    async def emit_last(self, event: str, data: dict[str, Any]) -> None:
        """Emit an event that ends something, for a limited time also during cancellation."""
        ...


AfterWord = Callable[[], Awaitable[None]]
"""Waits for the next word of an answer."""
