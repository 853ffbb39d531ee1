"""The folders in which a user's configuration is, and what is remembered for the user."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

NAME = "amplifier-core"
Kind: TypeAlias = Literal["config", "state"]

_VARIABLES: dict[Kind, tuple[str, str]] = {
    "config": ("XDG_CONFIG_HOME", ".config"),
    "state": ("XDG_STATE_HOME", ".local/state"),
}


def find_config_folder(environment: Mapping[str, str]) -> Path | None:
    """Return the folder of the user's configuration; None if the user has no home."""
    return _find_folder("config", environment)


def find_state_folder(environment: Mapping[str, str]) -> Path | None:
    """Return the folder for what is remembered; None if the user has no home."""
    return _find_folder("state", environment)


def need_state_folder(environment: Mapping[str, str]) -> Path:
    """Return the same.

    Raises:
        FileNotFoundError: The user has no home.
    """
    folder = find_state_folder(environment)
    if folder is None:
        raise FileNotFoundError("the user has no home folder; set `XDG_STATE_HOME`")
    return folder


def find_home() -> Path | None:
    """Return the home of the user; None without one."""
    try:
        return Path.home()
    except RuntimeError:
        return None


def _find_folder(kind: Kind, environment: Mapping[str, str]) -> Path | None:
    variable, usual = _VARIABLES[kind]
    named = Path(environment.get(variable, ""))
    if named.is_absolute():  # a relative one does not count, as its specification says
        return named / NAME
    if (home := find_home()) is None:
        return None
    if sys.platform not in ("darwin", "win32"):
        # As the library has it there: its import would take a third of the time of an interpreter.
        return home / usual / NAME
    from platformdirs import PlatformDirs

    folders = PlatformDirs(NAME, appauthor=False)
    return folders.user_config_path if kind == "config" else folders.user_state_path
