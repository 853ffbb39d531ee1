"""Where the files of the configuration are; nothing is read or imported for this."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

NAME = "config.toml"
IN_PROJECT = Path(".amplifier-core", NAME)


def find_user_file(environment: Mapping[str, str]) -> Path | None:
    """Return the place of the user's file, which need not exist; None for a user without a home."""
    folder = Path(environment.get("XDG_CONFIG_HOME", ""))
    if not folder.is_absolute():
        try:
            folder = Path.home() / ".config"
        except RuntimeError:
            return None
    return folder / "amplifier-core" / NAME
