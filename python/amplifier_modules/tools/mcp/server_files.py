"""Files of servers in the form that all hosts read: `{"mcpServers": {"NAME": {…}}}`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from amplifier_modules.hooks.settings_file import read_object
from amplifier_providers.settings import SettingError, read_settings

from .settings import ServerSettings

SERVERS = "mcpServers"
"""The key of the servers."""


class ServerFileError(ValueError):
    """A file that holds no servers, or one that cannot be used."""


def read_server_file(path: Path) -> dict[str, ServerSettings]:
    """Return the servers of a file of the user, by their names.

    Raises:
        OSError: It cannot be read.
        ServerFileError: It is no such file, or one of its servers cannot be used.
    """
    try:
        content = read_object(path)
    except (ValueError, RecursionError) as error:
        raise ServerFileError(f"it is no file of servers: {error}") from error
    servers: dict[str, ServerSettings] = {}
    for name, written in find_servers(content).items():
        try:
            servers[name] = read_server(written)
        except ServerFileError as error:
            raise ServerFileError(f"the server `{name}`: {error}") from error
    return servers


def find_servers(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is under the key of the servers, as it is written.

    Raises:
        ServerFileError: There is no such key, or it has something else.
    """
    found = content.get(SERVERS)
    if not isinstance(found, dict):
        raise ServerFileError(f"it has no object `{SERVERS}`")
    return cast("dict[str, Any]", found)


def read_server(written: Any) -> ServerSettings:
    """Return the settings of a server as it is written.

    Raises:
        ServerFileError: It cannot be used.
    """
    if not isinstance(written, dict):
        raise ServerFileError("it is no object")
    try:
        return read_settings(ServerSettings, cast("dict[str, Any]", written), "")
    except SettingError as error:
        raise ServerFileError(str(error)) from error
