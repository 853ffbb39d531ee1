"""What git ignores in a project, read from its repository without starting git there."""

from __future__ import annotations

import os
import stat
from pathlib import Path

_MAX_BYTES = 2**20
_OWN_FILES = b"\n.amplifier-*.tmp\n"
"""What a write of ours that was interrupted leaves beside a file."""


def find_work_tree(project: str) -> str:
    """Return the folder whose rules count: where the repository begins that a project lies in."""
    folder = Path(project)
    return next((str(each) for each in (folder, *folder.parents) if _has_git(each)), project)


def find_index(work_tree: str) -> str | None:
    """Return the index of the repository of a work tree; None if there is none."""
    index = _find_git_folder(Path(work_tree)) / "index"
    return str(index) if index.is_file() else None


def read_excludes(work_tree: str) -> bytes:
    """Return the rules that a repository has beside the files `.gitignore`, and those of our own."""
    folder = _find_git_folder(Path(work_tree))
    common = _read(folder / "commondir").strip()
    if common:
        folder /= os.fsdecode(common)
    return _read(folder / "info" / "exclude") + _OWN_FILES


def _find_git_folder(work_tree: Path) -> Path:
    folder = work_tree / ".git"
    # A worktree and a submodule have a file, which leads to the folder.
    leading = _read(folder)
    if leading.startswith(b"gitdir:"):
        return work_tree / os.fsdecode(leading.removeprefix(b"gitdir:").strip())
    return folder


def _has_git(folder: Path) -> bool:
    return os.path.lexists(folder / ".git")


def _read(path: Path) -> bytes:
    """Return the beginning of a regular file; nothing for anything else, such as a pipe."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return b""
    try:
        is_file = stat.S_ISREG(os.fstat(file).st_mode)
        return os.read(file, _MAX_BYTES) if is_file else b""
    finally:
        os.close(file)
