"""The Rust extension, which streams, the guard and the sandbox need: whether it can be loaded, and its file."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

__all__ = ["find_extension", "load_extension"]


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
