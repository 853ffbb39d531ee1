"""Where the changes of a project are kept: in the file system that the project lies in."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from amplifier_modules.running.user_folders import need_state_folder

_BESIDE = ".amplifier-changes"
_PLACES = "places"
"""The file in the usual folder that names all others, a line each."""


def find_changes_folder() -> Path:
    """Return the folder of this user for the changes of all sessions.

    Raises:
        FileNotFoundError: The user has no home.
    """
    return need_state_folder(os.environ) / "changes"


def choose_folder(project: Path, usual: Path) -> Path | None:
    """Return the folder in which the changes of a project are kept; None if there is none.

    They are put into the project by renaming, which is possible only within one mount. What lies
    in the project itself would be part of it.

    Args:
        project: The folder that is changed, links followed.
        usual: Where they are kept if that is such a place.
    """
    number = _read_mount(project)
    for folder in (usual, project.parent / _BESIDE):
        if number is None or folder.is_relative_to(project) or _is_elsewhere(folder, number):
            continue
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            continue
        # Beside a project in `/tmp`, others may have made it before.
        if _read_mount(folder) == number and (folder == usual or _is_ours(folder)):
            return folder
    return None


def note_place(usual: Path, folder: Path) -> None:
    """Note another folder in which changes are kept, so that `list_changes_folders` names it."""
    if folder in (usual, *_read_places(usual)):
        return
    with (usual / _PLACES).open("ab") as file:
        file.write(os.fsencode(folder) + b"\n")


def list_changes_folders(project: str, usual: Path) -> list[str]:
    """Return all folders in which changes are kept: of this project and of others.

    Args:
        project: The folder that is changed, links followed.
        usual: Where they are kept if possible.
    """
    found = (usual, Path(project).parent / _BESIDE, *_read_places(usual))
    return list(dict.fromkeys(map(str, found)))


def _read_places(usual: Path) -> list[Path]:
    try:
        lines = (usual / _PLACES).read_bytes().split(b"\n")
    except OSError:
        return []
    return [Path(os.fsdecode(line)) for line in lines if line.startswith(b"/")]


def _is_ours(folder: Path) -> bool:
    """Whether a folder is no link, and nobody else can put something there."""
    found = folder.lstat()
    is_closed = stat.S_ISDIR(found.st_mode) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return is_closed and found.st_uid == os.geteuid()


def _is_elsewhere(folder: Path, number: str) -> bool:
    """Whether a folder that is not there yet would be in another mount."""
    there = next(each for each in (folder, *folder.parents) if each.is_dir())
    return _read_mount(there) != number


def _read_mount(folder: Path) -> str | None:
    """Return the number of the mount that a folder lies in (`proc_pid_fdinfo(5)`)."""
    try:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        lines = Path(f"/proc/self/fdinfo/{opened}").read_text().splitlines()
    except OSError:
        return None
    finally:
        os.close(opened)
    return next((line.split()[1] for line in lines if line.startswith("mnt_id:")), None)
