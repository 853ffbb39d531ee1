"""`amplifier-core mcp add` and `remove`: the user's own MCP servers."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from amplifier_app.commands.mcp.own_servers import change_own_servers, find_own_file
from amplifier_app.commands.report import Report
from amplifier_app.commands.settings import MCP_EXTRA, NO_MCP
from amplifier_app.failure import Failure
from amplifier_app.notice import show_notice
from amplifier_app.outcome import WRONG_USAGE

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_ADDRESSES = ("http://", "https://")


def add_server(
    report: Report, name: str, words: Sequence[str], env: Sequence[str], headers: Sequence[str]
) -> None:
    """Put a server into the file of the user.

    Raises:
        Failure: What was given is no server, there is one of this name, or the file cannot be used.
    """
    entry = _make_entry(name, words, env, headers)
    path = find_own_file()

    def add(servers: dict[str, Any]) -> dict[str, Any]:
        if name in servers:
            hint = f"`amplifier-core mcp remove {name}` first"
            raise Failure(f"you have a server `{name}`", hint=hint, exit_code=WRONG_USAGE)
        return {**servers, name: entry}

    change_own_servers(path, add)
    report.write_lines([f"the server `{name}` is in `{path}`"])
    report.say_aside(f"`amplifier-core mcp test {name}` connects it")
    _warn_of_what_is_missing(name, entry)


def remove_server(report: Report, name: str, folder: Path) -> None:
    """Remove a server from the file of the user.

    Raises:
        Failure: There is none of this name, or the file cannot be used.
    """
    path = find_own_file()

    def remove(servers: dict[str, Any]) -> dict[str, Any]:
        if name not in servers:
            hint = _find_hint(name, list(servers), folder)
            raise Failure(f"you have no server `{name}`", hint=hint)
        return {other: each for other, each in servers.items() if other != name}

    change_own_servers(path, remove)
    report.write_lines([f"the server `{name}` is no more in `{path}`"])


def _make_entry(
    name: str, words: Sequence[str], env: Sequence[str], headers: Sequence[str]
) -> dict[str, Any]:
    from amplifier_modules.tools.mcp.server_files import ServerFileError, read_server

    if not _NAME.fullmatch(name):
        message = "the name of a server has 1 to 64 letters, digits, `_`, `.` and `-`"
        raise Failure(message, hint="choose another", exit_code=WRONG_USAGE)
    first, *others = words
    if first.startswith(_ADDRESSES):
        if others or env:
            message = "a server with an address has no arguments and no `--env`"
            raise Failure(message, hint="`--header` is for it", exit_code=WRONG_USAGE)
        entry: dict[str, Any] = {"type": "http", "url": first}
        if headers:
            entry["headers"] = dict(map(_split_header, headers))
    else:
        if headers:
            message = "a server that is started has no `--header`"
            raise Failure(message, hint="`--env` is for it", exit_code=WRONG_USAGE)
        if not others and not Path(first).exists():
            first, *others = _split_command(first)
        entry = {"command": first, "args": others}
        if env:
            entry["env"] = dict(map(_split_variable, env))
    try:
        read_server(entry)
    except ServerFileError as error:
        raise Failure(str(error), exit_code=WRONG_USAGE) from error
    return entry


def _split_command(line: str) -> list[str]:
    try:
        words = shlex.split(line)
    except ValueError as error:
        message = f"the command cannot be read: {error}"
        raise Failure(message, hint="give each word of it alone", exit_code=WRONG_USAGE) from None
    if not words:
        raise Failure("the command is empty", exit_code=WRONG_USAGE)
    return words


def _split_variable(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not (separator and name.isidentifier()):
        # What was written may be a secret, and is not repeated.
        raise Failure("`--env` is no `NAME=VALUE`", exit_code=WRONG_USAGE)
    return name, value


def _split_header(text: str) -> tuple[str, str]:
    name, separator, value = text.partition(":")
    if not (separator and _HEADER_NAME.fullmatch(name) and value.strip().isprintable()):
        raise Failure("`--header` is no `NAME: VALUE`", exit_code=WRONG_USAGE)
    return name, value.strip()


def _warn_of_what_is_missing(name: str, entry: dict[str, Any]) -> None:
    import os
    from importlib.util import find_spec

    from amplifier_modules.tools.mcp.server_entry import ServerEntry
    from amplifier_modules.tools.mcp.server_files import read_server

    for variable in ServerEntry(name, read_server(entry)).list_unset(os.environ):
        show_notice(f"warning: the variable `{variable}` is not set now")
    if find_spec("mcp") is None:
        show_notice(f"warning: it is not connected: {NO_MCP}: {MCP_EXTRA}")


def _find_hint(name: str, own: Sequence[str], folder: Path) -> str:
    from amplifier_modules.tools.mcp.project.project_servers import (
        PROJECT_FILE,
        read_project_servers,
    )

    if any(each.name == name for each in read_project_servers(folder).entries):
        return f"it is in `{PROJECT_FILE}` of the project"
    if alike := get_close_matches(name, own):
        return f"did you mean `{alike[0]}`?"
    return "see `amplifier-core mcp list`"
