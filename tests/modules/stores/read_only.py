"""A folder or its files that refuse to be written, also to a test that root runs."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_NOBODY = 65534


@contextmanager
def open_place() -> Iterator[Path]:
    """A folder that other users can reach."""
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        yield Path(place)


@contextmanager
def protect(folder: Path, what: str) -> Iterator[None]:
    """Make the `files` of a folder or the `folder` itself read-only; root is somebody else there."""
    if sys.platform == "win32":
        pytest.skip("the modes of Windows protect no folder")
    places = [folder] if what == "folder" else list(folder.iterdir())
    is_root = os.geteuid() == 0
    for each in (folder, *folder.iterdir()):
        os.chmod(each, 0o755 if each.is_dir() else 0o644)
        if is_root:
            os.chown(each, _NOBODY, _NOBODY)
    for each in places:
        os.chmod(each, 0o555 if each.is_dir() else 0o444)
    if is_root:
        try:
            os.seteuid(_NOBODY)
        except OSError as error:
            pytest.skip(f"root cannot be another user here: {error}")
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)
        for each in places:
            os.chmod(each, 0o755 if each.is_dir() else 0o644)
