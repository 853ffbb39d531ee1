"""The application: the `amplifier-core` command, its live display and its demo model."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .display.renderer import ContentBlockRenderer

__all__ = ["ContentBlockRenderer"]


def __getattr__(name: str) -> object:
    # Imported at its first use: the command starts without it.
    if name != "ContentBlockRenderer":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .display.renderer import ContentBlockRenderer

    return ContentBlockRenderer
