"""Names as the most lenient file system reads them."""

from __future__ import annotations

import os
import unicodedata

MAX_NAMES = 200
"""Folders that lie deeper are not looked into."""
_MAX_PATH_BYTES = 3_000


def fold_name(name: str) -> str:
    """Return a name without what such a file system ignores.

    That is case, wide forms, invisible characters, what follows a colon, dots and spaces at the end.
    """
    if not name.isascii():
        plain = unicodedata.normalize("NFKC", name)
        name = "".join(one for one in plain if unicodedata.category(one) != "Cf")
    return name.lower().partition(":")[0].rstrip(". ")


def fold_names(path: str) -> list[str]:
    """Return the names of a path, folded, as far as it is looked into."""
    return [fold_name(each) for each in path.split("/", MAX_NAMES)[:MAX_NAMES]]


def find_too_deep(path: str) -> str | None:
    """Return the beginning of a path that lies deeper than others look; None if it does not.

    Programs cannot open such a path, and to judge many of them takes minutes.
    """
    if path.count("/") < MAX_NAMES and len(os.fsencode(path)) <= _MAX_PATH_BYTES:
        return None
    names = path.split("/", MAX_NAMES + 1)[: MAX_NAMES + 1]
    length = 0
    for count, name in enumerate(names, start=1):
        length += len(os.fsencode(name)) + 1
        if length > _MAX_PATH_BYTES or count > MAX_NAMES:
            return "/".join(names[:count])
    return None
