"""A file of settings in JSON: read only if it is one, and replaced as a whole."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

_MAX_BYTES = 1024 * 1024


class SettingsFileError(ValueError):
    """A file that holds something else than settings."""


def read_object(path: Path) -> dict[str, Any]:
    """Read a file of JSON.

    Raises:
        OSError: It cannot be read.
        ValueError: It is no JSON.
        SettingsFileError: It holds no object.
    """
    # A pipe in its place would never end.
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
        if not os.path.isfile(file.fileno()):
            raise SettingsFileError("it is no file")
        content = file.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise SettingsFileError(f"it has more than {_MAX_BYTES:,} bytes")
    found: Any = json.loads(content)
    if not isinstance(found, dict):
        raise SettingsFileError("it is no object")
    return cast("dict[str, Any]", found)


@contextmanager
def hold(path: Path) -> Generator[None]:
    """Keep others from changing the files of a folder between their reading and their writing.

    The folder is what is locked, as the file itself is replaced; the lock ends with its process.
    Where folders cannot be locked, as on Windows, the last one who writes wins.

    Raises:
        OSError: The folder cannot be made or read.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:
        yield
        return
    folder = path.resolve().parent  # a link and its file have one lock
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def write_object(path: Path, content: Mapping[str, Any]) -> None:
    """Replace a file, or leave it as it was.

    Raises:
        OSError: It cannot be written.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    target = path.resolve()  # a link to it stays one
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".settings-")
    try:
        with open(handle, "w", encoding="utf-8") as file:
            json.dump(content, file, indent=2)
            file.write("\n")
        os.replace(name, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
