"""The working folder among the arguments of a tool."""

from __future__ import annotations

import re
from pathlib import Path

_PLAIN = re.compile(r"(?![\s~-])[\w ./@+,=-]*(?<!\s)")
_NAMES = frozenset(
    {
        "chdir",
        "currentdirectory",
        "cwd",
        "dir",
        "directory",
        "folder",
        "pwd",
        "workdir",
        "workfolder",
        "workingdir",
        "workingdirectory",
        "workingfolder",
    }
)


def is_folder_argument(name: str) -> bool:
    """Whether tools call the folder in which a command runs by this name, such as `workingDir`."""
    return "".join(filter(str.isalnum, name)).lower() in _NAMES


def is_beneath(root: str | None, folder: object) -> bool:
    """Whether `folder`, counted from the root, is inside it, links resolved.

    A name that a tool or a shell may read otherwise (`~`, `$HOME`, `-`) is not.
    """
    if root is None or not isinstance(folder, str) or not _PLAIN.fullmatch(folder):
        return False
    try:
        top = Path(root).resolve()
        return (top / folder).resolve().is_relative_to(top)
    except (OSError, RuntimeError, ValueError):
        return False  # a loop of links, a NUL
