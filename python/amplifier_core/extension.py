"""Whether the Rust extension, which streams and the guard need, can be loaded here."""

from __future__ import annotations

from importlib import import_module

__all__ = ["load_extension"]


def load_extension() -> None:
    """Load the extension, whichever engine runs the sessions.

    Raises:
        ImportError: It is missing or cannot be loaded.
    """
    import_module("amplifier_core._engine")
