"""The address of a server that a person names on the command line."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from amplifier_app.failure import Failure
from amplifier_app.outcome import WRONG_USAGE

if TYPE_CHECKING:
    from amplifier_modules.tools.mcp.server_entry import Address


def find_address(name: str, files: Sequence[str] = ()) -> Address:
    """Return where a server is that runs elsewhere.

    Args:
        name: Its name, or its address.
        files: Files of servers, in the form of `mcpServers`; the last one that has it counts.

    Raises:
        Failure: There is none of this name, it is started here, or its entry cannot be used.
    """
    if find_spec("mcp") is None:
        hint = "`pip install 'amplifier-core[mcp]'`"
        raise Failure("the package `mcp` is missing", hint=hint)
    from amplifier_modules.tools.mcp.server_entry import Address, EntryError, ServerEntry
    from amplifier_modules.tools.mcp.settings import ServerSettings
    from amplifier_providers.settings import SettingError, read_settings

    is_address = name.startswith(("https://", "http://"))
    written: Any = {"url": name} if is_address else _find_entry(name, files)
    if written is None:
        hint = "give the address of the server, or the file that has it: `--mcp-config FILE`"
        raise Failure(f"there is no MCP server `{name}`", hint=hint, exit_code=WRONG_USAGE)
    try:
        settings = read_settings(ServerSettings, written, f"the server `{name}`")
        place = ServerEntry(name, settings).resolve(os.environ, Path.cwd())
    except (EntryError, SettingError) as error:
        raise Failure(f"the MCP server `{name}`: {error}", exit_code=WRONG_USAGE) from error
    if not isinstance(place, Address):
        raise Failure(f"the MCP server `{name}` is started here, and needs no login")
    return place


def _find_entry(name: str, files: Sequence[str]) -> Any:
    found: Any = None
    for file in files:
        try:
            content: Any = json.loads(Path(file).read_bytes())
            servers = content["mcpServers"]
            found = cast("dict[str, Any]", servers).get(name, found)
        except OSError as error:
            raise Failure(f"`{file}`: {error.strerror}", exit_code=WRONG_USAGE) from error
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            message = f"`{file}` is no file of servers in the form of `mcpServers`"
            raise Failure(message, exit_code=WRONG_USAGE) from error
    return found
