"""What was typed at a terminal that has not ended its line."""

from __future__ import annotations

import os
from typing import Any

_MOST = 65_536


def read_typed(descriptor: int) -> bytes:
    """Take what was typed and not read yet out of a terminal that edits lines; nothing elsewhere."""
    try:
        import termios
    except ImportError:
        return b""  # a console of Windows
    try:
        usual = termios.tcgetattr(descriptor)
        by_keys: list[Any] = [*usual[:6], list(usual[6])]
        # A terminal gives away an unfinished line once it edits no lines.
        by_keys[3] &= ~termios.ICANON
        by_keys[6][termios.VMIN], by_keys[6][termios.VTIME] = 0, 0
        termios.tcsetattr(descriptor, termios.TCSANOW, by_keys)
        try:
            return os.read(descriptor, _MOST)
        finally:
            termios.tcsetattr(descriptor, termios.TCSANOW, usual)
    except (termios.error, OSError):
        return b""
