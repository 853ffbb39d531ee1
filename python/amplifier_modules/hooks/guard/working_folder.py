"""The working folder among the arguments of a tool."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast
from unicodedata import normalize

_PLAIN = re.compile(r"(?![\s~-])[\w ./@+,=-]*(?<!\s)")
_NAMES = re.compile(
    "cwd|chdir|pwd|folder|director|path|work(ing)?(dir|place|space|tree)|dir$|^root"
)


_MAX_DEPTH = 32
"""Hooks see a very deep value only in part, so nothing is certain about it."""


def leaves_root(root: str | None, name: str, value: object) -> bool:
    """Whether an argument, or anything in it, is a working folder that is not inside the root.

    Tools call it `cwd`, `workingDir`, `directory_path` and much else. What is nested too deeply
    counts as one.
    """
    return _leaves_root(root, name, value, 0)


def _leaves_root(root: str | None, name: str, value: object, depth: int) -> bool:
    if depth > _MAX_DEPTH:
        return True
    within: list[tuple[str, object]] = []
    if isinstance(value, Mapping):
        within = [(str(key), each) for key, each in cast("Mapping[Any, Any]", value).items()]
    elif isinstance(value, list | tuple):
        within = [("", each) for each in cast("Sequence[Any]", value)]
    if any(_leaves_root(root, key, each, depth + 1) for key, each in within):
        return True
    letters = "".join(filter(str.isalnum, normalize("NFKC", name))).lower()
    return _NAMES.search(letters) is not None and not is_beneath(root, cast("object", value))


def is_beneath(root: str | None, folder: object) -> bool:
    """Whether `folder`, counted from the root, is inside it, links resolved.

    A name that a tool or a shell may read otherwise (`~`, `$HOME`, `-`) is not.
    """
    if root is None or not isinstance(folder, str) or not _PLAIN.fullmatch(folder):
        return False
    try:
        top = Path(root).resolve()
        path = top / folder
        # From CPython 3.13 on `resolve` takes links that lead to each other; `stat` does not.
        with suppress(FileNotFoundError):
            path.stat()
        return path.resolve().is_relative_to(top)
    except (OSError, RuntimeError, ValueError):
        return False  # a loop of links, a NUL
