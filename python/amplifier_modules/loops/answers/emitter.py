"""What an answer is told to."""

from __future__ import annotations

from typing import Any, Protocol


class Emitter(Protocol):
    """Emits the events of a turn."""

    async def emit(self, event: str, data: dict[str, Any]) -> None:
        """Emit an event that hooks can only observe."""
        ...

    @property
    def coordinator(self) -> Any:
        """The session's coordinator; may be None."""
        ...
