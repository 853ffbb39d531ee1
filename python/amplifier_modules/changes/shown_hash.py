"""The hash of changes that a person is shown, so that exactly these can be made later."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from .change import ChangedPath

_PIECE = 2**20


def hash_layer(folder: str) -> str:
    """Return the hash of all that a layer has: paths, kinds, modes, times, contents.

    Raises:
        OSError: It cannot be read, or is too deep.
    """
    found = sha256()
    folders = [folder]
    while folders:
        place = folders.pop()
        with os.scandir(place) as entries:
            names = sorted(entry.path for entry in entries)
        for path in names:
            status = os.lstat(path)
            _add(found, os.path.relpath(path, folder), _describe(path, status))
            if stat.S_ISDIR(status.st_mode):
                folders.append(path)
    return found.hexdigest()


def hash_shown(layer: str, paths: Iterable[ChangedPath]) -> str:
    """Return the hash of what a person is shown: the layer, and what it would replace.

    Args:
        layer: The hash of the layer.
        paths: What would change.

    Raises:
        OSError: A version from before cannot be read.
    """
    found = sha256(layer.encode())
    for each in sorted(paths, key=lambda path: path.path):
        before: tuple[Any, ...] = ()
        if each.before is not None:
            before = _describe(each.before, os.lstat(each.before))
        _add(found, each.path, (each.kind, each.type, *before))
    return found.hexdigest()


def digest_content(content: bytes) -> str:
    """Return the digest of what a version of a file holds."""
    return sha256(content).hexdigest()


def _describe(path: str, status: os.stat_result) -> tuple[Any, ...]:
    mode, modified = status.st_mode, status.st_mtime_ns
    if stat.S_ISLNK(mode):
        return mode, modified, os.readlink(path)
    attributes = _list_attributes(path)
    if stat.S_ISREG(mode):
        return mode, modified, attributes, _hash_content(path)
    return mode, modified, attributes, status.st_rdev


def _list_attributes(path: str) -> list[tuple[str, bytes]]:
    names = sorted(os.listxattr(path, follow_symlinks=False))
    return [(name, os.getxattr(path, name, follow_symlinks=False)) for name in names]


def _hash_content(path: str) -> str:
    found = sha256()
    opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    with open(opened, "rb") as file:
        while piece := file.read(_PIECE):
            found.update(piece)
    return found.hexdigest()


def _add(found: Any, path: str, described: tuple[Any, ...]) -> None:
    # `repr` of numbers, texts and bytes: no two entries read the same.
    found.update(repr((os.fsencode(path), described)).encode("utf-8", "surrogatepass"))
