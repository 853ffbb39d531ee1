"""prompt_toolkit without what its first prompt does not need."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from amplifier_app.late_imports.late_modules import import_late, is_late

_NARROW = "·…"
"""What the status line is written with, beside ASCII."""
_LATE = (
    "prompt_toolkit",
    "prompt_toolkit.widgets",
    "shutil",
    "tempfile",
    "wcwidth",
    "xml",
    "xml.dom",
    "xml.dom.minidom",
)
"""Of the packages only submodules are needed, of the others nothing until a key asks for it."""


def import_toolkit() -> None:
    """Import what a prompt needs; the imports that follow find it there."""
    import_late(*_LATE)
    if is_late("wcwidth"):
        # Its submodules take a fifth of the time of all of prompt_toolkit.
        sys.modules["wcwidth"].__dict__["wcwidth"] = measure_character
    # First, as in the package itself: the submodules import each other in circles.
    import_module("prompt_toolkit.application")


def measure_character(character: str, *options: Any, **named_options: Any) -> int:
    """Return the cells of a character, as `wcwidth.wcwidth` does.

    Args:
        character: The character.
        options: Those of `wcwidth.wcwidth`.
        named_options: The same.
    """
    if not options and not named_options and (" " <= character <= "~" or character in _NARROW):
        return 1
    module = sys.modules["wcwidth"]
    names: dict[str, Any] = module.__dict__
    if names.get("wcwidth") is measure_character:
        del names["wcwidth"]  # so that the module runs, and puts its own there
    return module.wcwidth(character, *options, **named_options)


def load_widths() -> None:
    """Load `wcwidth`, so that no key waits for it."""
    measure_character("\u0301")
