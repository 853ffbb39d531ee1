"""File systems of several kinds, each made in a file and mounted for one test."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

FILE_SYSTEMS = ["here", "tmpfs", "xfs", "btrfs"]
"""`here` is the one that the folder of the test is on."""
BYTES = 1 << 30


@contextmanager
def mount_file_system(kind: str, folder: Path) -> Iterator[Path]:
    """Mount a new file system of a kind in a folder, and return a folder on it.

    Skips the test, and says why, where it cannot be made.
    """
    if kind == "here":
        yield folder
        return
    image, mounted = folder / "image", folder / "mounted"
    mounted.mkdir()
    if os.getuid() != 0:
        pytest.skip("only root can mount a file system")
    if kind == "tmpfs":
        arguments = ["-t", "tmpfs", "-o", f"size={BYTES}", "tmpfs", str(mounted)]
    else:
        if (maker := shutil.which(f"mkfs.{kind}")) is None:
            pytest.skip(f"there is no `mkfs.{kind}`")
        with image.open("wb") as file:
            file.truncate(BYTES)
        subprocess.run([maker, "-q", str(image)], check=True, capture_output=True)
        arguments = ["-o", "loop", str(image), str(mounted)]
    mounting = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if mounting.returncode != 0:
        pytest.skip(f"cannot mount `{kind}`: {mounting.stderr.strip()}")
    try:
        yield mounted
    finally:
        subprocess.run(["umount", str(mounted)], check=True)
        image.unlink(missing_ok=True)
