"""Which folder the tools may read, and how the names in it are written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio.to_thread

from amplifier_guard import PathPolicy

SKIPPED = (".git", ".venv", "target", "node_modules")
"""Names of directories that are not searched: what is in them was fetched or built."""


async def open_folder(coordinator: Any, config: Mapping[str, Any] | None) -> PathPolicy:
    """Open the folder that `config["root"]` names.

    Without it, it is the session's working directory (the capability `session.working_dir`), or
    else that of the process.

    Raises:
        TypeError: The root is not a path.
        OSError: The folder does not exist or cannot be opened.
    """
    working = coordinator.get_capability("session.working_dir") or "."
    root = (config or {}).get("root", working)
    if not isinstance(root, str | Path):
        raise TypeError(f"`root` must be the path of a folder, found {root!r}")
    return await anyio.to_thread.run_sync(_open, Path(root), Path(working))


def _open(root: Path, working: Path) -> PathPolicy:
    return PathPolicy(working / root.expanduser())


def written(path: str) -> str:
    r"""A path as text for a model: bytes that are not UTF-8 become `\xff`."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
