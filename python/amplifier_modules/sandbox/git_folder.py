"""What of a project decides what git runs: it stays as it is while a command runs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_READ_ONLY = ("config", "config.worktree", "hooks", "info/attributes")
_LINKS = ("commondir", "gitdir")
"""Files of a worktree that lead to its repository and back."""
_UNUSED = ("commondir", "config.worktree")
"""Would send git to other hooks and settings; commands of git make them only elsewhere."""
_WORKTREE = re.compile(r"^\s*worktree\s*=\s*(.+?)\s*$", re.MULTILINE)
_MAX_FILE_BYTES = 65_536


def make_hook_folders(project: str) -> None:
    """Have a folder of hooks in each repository of a project: a command could make one where none is."""
    folder = _find_repository(project)
    for each in () if folder is None else (folder, *_find_modules(folder)):
        with suppress(OSError):  # it is there, or nobody can make it
            (each / "hooks").mkdir()


def find_git_files(project: str) -> list[str]:
    """Return the paths that decide, of the project and of its submodules and worktrees."""
    leading = Path(project, ".git")
    found = [str(leading)] if leading.is_file() else []
    folder = _find_repository(project)
    if folder is None:
        return found
    repositories = [folder, *_find_modules(folder)]
    names = [(each, name) for each in repositories for name in _READ_ONLY]
    names += [(each, name) for each in _list_folders(folder / "worktrees") for name in _LINKS]
    names += [(each, ".git") for each in _find_checkouts(folder, Path(project))]
    paths = [str(each / name) for each, name in names if (each / name).exists()]
    return list(dict.fromkeys([*found, *paths]))


def find_git_folders(project: str) -> list[str]:
    """Return the folders that must not be moved away, as another could take their place."""
    folder = _find_repository(project)
    if folder is None:
        return []
    checkouts = [folder, *_find_checkouts(folder, Path(project))]
    return [str(each) for each in checkouts if each != Path(project)]


def find_unused_git_files(project: str) -> list[str]:
    """Return the paths that would decide, and where there is nothing now."""
    folder = _find_repository(project)
    if folder is None:
        return []
    return [str(folder / name) for name in _UNUSED if not os.path.lexists(folder / name)]


def _find_repository(project: str) -> Path | None:
    """Return the folder in the project that has the settings and hooks of its repository."""
    leading = Path(project, ".git")
    if leading.is_dir():
        return leading
    if not leading.is_file():
        return Path(project) if _is_bare(Path(project)) else None
    folder = leading.parent / _read(leading).removeprefix("gitdir:").strip()
    folder = _resolve(folder / _read(folder / "commondir").strip())
    return folder if Path(project) in folder.parents and folder.is_dir() else None


def _is_bare(folder: Path) -> bool:
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir()


def _find_checkouts(folder: Path, project: Path) -> list[Path]:
    """Return the folders in the project where submodules and worktrees are checked out."""
    found = [*_find_submodules(folder), *_find_worktrees(folder)]
    inside = (each for each in map(_resolve, found) if project in each.parents)
    return [each for each in inside if (each / ".git").is_file()]


def _find_submodules(folder: Path) -> Iterator[Path]:
    for module in _find_modules(folder):
        for path in _WORKTREE.findall(_read(module / "config")):
            yield module / path


def _find_worktrees(folder: Path) -> Iterator[Path]:
    for worktree in _list_folders(folder / "worktrees"):
        if path := _read(worktree / "gitdir").strip():
            yield (worktree / path).parent


def _find_modules(folder: Path) -> list[Path]:
    """Return the repositories of submodules."""
    found = os.walk(folder / "modules")
    return [Path(path) for path, _, files in found if {"HEAD", "config"} <= set(files)]


def _list_folders(folder: Path) -> list[Path]:
    return [each for each in folder.iterdir() if each.is_dir()] if folder.is_dir() else []


def _resolve(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _read(path: Path) -> str:
    """Return the beginning of a file as text; empty if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(_MAX_FILE_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return ""
