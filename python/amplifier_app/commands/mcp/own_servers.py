"""The file of the user's own MCP servers, in the config folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from amplifier_app.commands.settings import OWN_SERVERS
from amplifier_app.failure import Failure
from amplifier_modules.hooks.settings_file import hold, read_object, write_object
from amplifier_modules.running.user_folders import find_config_folder
from amplifier_modules.tools.mcp.server_files import SERVERS, ServerFileError, find_servers


def find_own_file() -> Path:
    """Return the place of the file, which may not be there.

    Raises:
        Failure: The user has no home.
    """
    folder = find_config_folder(os.environ)
    if folder is None:
        raise Failure("you have no home folder", hint="set `XDG_CONFIG_HOME`")
    return folder / OWN_SERVERS


def read_own_servers(path: Path) -> dict[str, Any]:
    """Return the servers of the file as they are written; none where there is no file.

    Raises:
        Failure: It cannot be read, or holds something else.
    """
    content = _read(path)
    try:
        return find_servers(content) if SERVERS in content else {}
    except ServerFileError as error:
        raise _make_failure(path, error) from error


def change_own_servers(path: Path, change: Callable[[dict[str, Any]], Mapping[str, Any]]) -> None:
    """Replace the servers of the file, which only the user can read, and leave the rest as it is.

    Args:
        path: The file.
        change: Is called with the servers as they are, and returns what they are from now on. No other
            process changes the file meanwhile.

    Raises:
        Failure: The file cannot be read or written, or `change` refuses.
    """
    try:
        with hold(path):
            servers = dict(change(read_own_servers(path)))
            content = {**_read(path), SERVERS: servers}
            if not servers and len(content) == 1:
                path.unlink(missing_ok=True)
            else:
                write_object(path, content)
    except OSError as error:
        message = f"`{path}` cannot be written: {error.strerror or error}"
        raise Failure(message, hint="nothing was changed") from error


def _read(path: Path) -> dict[str, Any]:
    try:
        return read_object(path)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise _make_failure(path, error) from error


def _make_failure(path: Path, error: Exception) -> Failure:
    reason = getattr(error, "strerror", None) or error
    return Failure(f"`{path}` cannot be used: {reason}", hint="correct it")
