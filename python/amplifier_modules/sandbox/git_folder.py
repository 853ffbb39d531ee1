"""What of a project's `.git` decides what git runs: it stays as it is while a command runs."""

from __future__ import annotations

import os
from pathlib import Path

_READ_ONLY = ("config", "config.worktree", "hooks", "info/attributes")
_UNUSED = ("commondir", "config.worktree")
"""Would send git to other hooks and settings; git makes them only elsewhere."""


def find_git_files(project: str) -> list[str]:
    """Return the paths that decide, of the project itself and of its submodules."""
    folder = Path(project, ".git")
    if folder.is_file():
        return [str(folder)]
    modules = folder / "modules"
    folders = [folder, *(Path(found) for found, names, _ in os.walk(modules) if "hooks" in names)]
    return [str(each / name) for each in folders for name in _READ_ONLY if (each / name).exists()]


def find_unused_git_files(project: str) -> list[str]:
    """Return the paths that would decide, and where there is nothing now."""
    folder = Path(project, ".git")
    if not folder.is_dir():
        return []
    return [str(folder / name) for name in _UNUSED if not os.path.lexists(folder / name)]
