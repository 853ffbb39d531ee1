"""What is typed and shown outside: the terminal of the agent, and a fifo that somebody reads."""

from __future__ import annotations

import os
import tty
from pathlib import Path


class Terminal:
    """A terminal of the user and the fifo of a world, and all that came by them."""

    def __init__(self, uid: int, gid: int, fifo: Path) -> None:
        """Open them for a user."""
        shown, typed = os.openpty()
        tty.setraw(typed)
        self.name = os.ttyname(typed)
        os.chown(self.name, uid, gid)
        self._files = {
            "terminal/shown": shown,
            "terminal/typed": typed,
            "messages/fifo": os.open(fifo, os.O_RDONLY | os.O_NONBLOCK),
        }
        self._received = dict.fromkeys(self._files, b"")
        for each in self._files.values():
            os.set_blocking(each, False)

    def describe(self) -> dict[str, object]:
        """Return what has come so far."""
        for name, file in self._files.items():
            try:
                self._received[name] += os.read(file, 4096)
            except OSError:  # nothing is there
                continue
        return dict(self._received)

    def close(self) -> None:
        """Close them."""
        for each in self._files.values():
            os.close(each)
