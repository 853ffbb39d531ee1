"""The names of the tools of servers: `server__tool`, in letters that every model takes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable

MAX_NAME_CHARS = 64
"""Characters of a name; services refuse longer ones."""
MAX_SERVER_CHARS = 32

_REFUSED = re.compile(r"[^A-Za-z0-9_-]")
_HASH_CHARS = 8


def choose_server_names(servers: Iterable[str]) -> dict[str, str]:
    """Return what stands before `__` in the names of the tools, by the name of the server."""
    return _choose(list(servers), lambda name: name, MAX_SERVER_CHARS, ())


def choose_tool_names(
    prefix: str, tools: Iterable[str], taken: Collection[str] = ()
) -> dict[str, str]:
    """Return the names of the tools of a server, by the names that it gives them.

    A name does not depend on the order of the tools, so that it is the same the next time.

    Args:
        prefix: What stands before `__`.
        tools: The names that the server gives.
        taken: Names of other tools.
    """
    return _choose(list(tools), lambda name: f"{prefix}__{name}", MAX_NAME_CHARS, taken)


def _choose(
    names: list[str], write: Callable[[str], str], most: int, taken: Collection[str]
) -> dict[str, str]:
    used = set(taken)
    chosen: dict[str, str] = {}
    # First those that stay as they are: no other name may take theirs.
    for name in sorted(names, key=lambda each: (_clean(write(each)) != write(each), each)):
        written = write(name)
        cleaned = _clean(written)
        if len(cleaned) > most or cleaned in used:
            digest = hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()
            cleaned = f"{cleaned[: most - _HASH_CHARS - 1]}_{digest[:_HASH_CHARS]}"
        if cleaned not in used:
            used.add(cleaned)
            chosen[name] = cleaned
    return {name: chosen[name] for name in names if name in chosen}


def _clean(name: str) -> str:
    """Return a name of which every model takes each letter, and the first one."""
    cleaned = _REFUSED.sub("_", name)
    return cleaned if cleaned[:1].isalpha() or cleaned[:1] == "_" else f"_{cleaned}"
