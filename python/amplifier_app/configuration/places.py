"""Where the files of the configuration are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from amplifier_modules.running.user_folders import find_config_folder

NAME = "config.toml"
IN_PROJECT = Path(".amplifier-core", NAME)


def find_user_file(environment: Mapping[str, str]) -> Path | None:
    """Return the place of the user's file, which need not exist; None for a user without a home."""
    folder = find_config_folder(environment)
    return None if folder is None else folder / NAME
