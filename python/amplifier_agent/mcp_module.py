"""`mcp`: an MCP server as a tool of an agent, in one call."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import urlsplit

MODULE = "tool-mcp"

_RUNNERS = frozenset({"bunx", "deno", "node", "npx", "pipx", "pnpx", "python", "uv", "uvx"})
_STEPS = frozenset({"run", "exec", "dlx", "tool", "x"})
_AFFIXES = re.compile(
    r"^(?:mcp[-_]server[-_]|server[-_]|mcp[-_])|(?:[-_]mcp[-_]server|[-_]mcp|[-_]server)$"
)
_FIELDS = frozenset({"args", "cwd", "env", "headers", "type"})
SETTINGS = frozenset(
    {
        "call_timeout",
        "first_wait",
        "max_result_bytes",
        "private_addresses",
        "redact",
        "start_timeout",
    }
)
"""Keys of the module, not of the server; here, as an agent that has no server imports no settings."""


def mcp(command_or_url: str, *, name: str | None = None, **config: Any) -> dict[str, Any]:
    """Return an MCP server as a module for `Agent(tools=[…])`.

    It is the user's own word: nobody is asked before it is started.

    Args:
        command_or_url: The command that starts it, such as `npx -y @scope/server-files .`, or its
            address.
        name: What stands before the names of its tools; by default taken from the command or the
            address.
        **config: Further keys of its entry, `args`, `cwd`, `env`, `headers`, and settings of
            `tool-mcp`, such as `first_wait`, which are those of all servers of the agent.

    Raises:
        TypeError: The command is no text, or there is no such key.
        ValueError: The command is empty, or its quotes do not end.
    """
    if not isinstance(command_or_url, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- callers may not be typed
        found = type(command_or_url).__name__
        raise TypeError(f"the server is a `{found}` (must be a command or an address, as text)")
    settings = {key: config.pop(key) for key in SETTINGS & config.keys()}
    if unknown := sorted(config.keys() - _FIELDS):
        from amplifier_core.suggest import suggest_or_list

        advice = suggest_or_list(unknown[0], sorted(_FIELDS | SETTINGS))
        raise TypeError(f"a server has no `{unknown[0]}`{advice}")
    if command_or_url.startswith(("http://", "https://")):
        entry: dict[str, Any] = {"url": command_or_url, **config}
        words = [urlsplit(command_or_url).hostname or "server"]
        words = ["local"] if words[0] in ("localhost", "127.0.0.1", "::1") else words
    else:
        words = shlex.split(command_or_url)
        if not words:
            raise ValueError("the command of a server is empty")
        given = [str(each) for each in config.pop("args", ())]
        words += given
        entry = {"command": words[0], "args": words[1:], **config}
    servers = {name or choose_name(words): entry}
    return {"module": MODULE, "config": {"servers": servers, **settings}}


def choose_name(words: list[str]) -> str:
    """Return a name for a server by the words of its command, or by its host."""
    program = words[0]
    for word in words:
        base = word.replace("\\", "/").rpartition("/")[2]
        if base.rstrip(".0123456789") in _RUNNERS or base in _STEPS or word.startswith("-"):
            continue
        program = base
        break
    program = re.sub(r"(?<=.)@[^@]*$|\.(?:py|js|mjs|ts|exe)$", "", program)
    if "." in program:  # a host: what stands before its last part
        parts = [each for each in program.split(".") if each not in ("www", "mcp", "api")]
        program = parts[0] if parts else program
    return _AFFIXES.sub("", program) or program


def merge_servers(entry: dict[str, Any], tools: list[Any]) -> bool:
    """Add the servers of an entry to one of `tool-mcp` that is there; return whether one is.

    Raises:
        ValueError: Two servers have one name.
    """
    for each in tools:
        if not isinstance(each, dict) or cast("Any", each).get("module") != MODULE:
            continue
        present = cast("dict[str, Any]", each)
        config = present.setdefault("config", {})
        servers = config.setdefault("servers", {})
        more: Mapping[str, Any] = entry.get("config") or {}
        added: Mapping[str, Any] = more.get("servers") or {}
        for name, server in added.items():
            if name in servers:
                raise ValueError(f"two servers are called `{name}`; give one another `name=`")
            servers[name] = server
        config.update({key: value for key, value in more.items() if key != "servers"})
        return True
    return False
