"""The live display of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .session_display import Display

__all__ = ["Display"]


def __getattr__(name: str) -> Any:
    # The screen alone is there in a fraction of the time: it waits for nothing that draws on it.
    if name == "Display":
        from .session_display import Display

        return Display
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
