"""The settings of `store-sqlite`."""

from __future__ import annotations

from typing import Literal

from amplifier_providers.settings import Settings


class SqliteSettings(Settings):
    """Where sessions are stored, and how."""

    folder: str | None = None
    """The folder of the files; `sessions` in the user's state folder if it is not set, which is
    `$XDG_STATE_HOME/amplifier-core` or `~/.local/state/amplifier-core` on Linux."""
    journal_mode: Literal["auto", "wal", "persist"] = "auto"
    """How SQLite makes its writes whole. `auto` is `wal` on a local disk where SQLite is at least
    3.51.3, as older versions can corrupt a file that two processes write to, else `persist`."""
