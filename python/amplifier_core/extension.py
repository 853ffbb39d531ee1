"""The Rust extension, which streams, the guard and the sandbox need: whether it can be loaded, and its file."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._engine import Change

__all__ = ["find_change_class", "find_extension", "load_extension"]


def load_extension() -> None:
    """Load the extension, whichever engine runs the sessions.

    Raises:
        ImportError: It is missing or cannot be loaded.
    """
    import_module("amplifier_core._engine")


def find_extension() -> str | None:
    """Return the file of the extension; None if it is missing."""
    found = find_spec("amplifier_core._engine")
    return None if found is None else found.origin


def find_change_class() -> type[Change] | None:
    """Return the class of changes that can be taken back; None without it, as outside of Linux."""
    try:
        engine = import_module("amplifier_core._engine")
    except ImportError:
        return None
    return getattr(engine, "Change", None)
