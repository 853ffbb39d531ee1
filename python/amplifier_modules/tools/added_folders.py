"""Folders beside the project that a person lets the tools of a session use."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from amplifier_core.session_capabilities import SESSION_ADDED_FOLDERS, SESSION_WORKING_DIR
from amplifier_guard.path import secret_places
from amplifier_modules.instructions.places import find_claude_folder
from amplifier_modules.running.kept_state import STATE
from amplifier_modules.running.user_folders import (
    find_config_folder,
    find_home,
    find_state_folder,
)

_OF_SYSTEM = ("/proc", "/sys", "/dev", "/run")
_BEGINNING = "[The user lets you use the folder "


class FolderRefusedError(ValueError):
    """A folder that is not added, and what would be right."""


class AddedFolders:
    """The folders of a session and its sub-agents, as a state that is stored; see `KeptState`."""

    kind = f"{STATE}folders"

    def __init__(self, project: Path) -> None:
        """Begin without any.

        Args:
            project: The folder that the tools work in.
        """
        self._project = Path(os.path.realpath(project))
        self.paths: tuple[str, ...] = ()
        """Absolute, links followed."""

    def add(self, text: str) -> str | None:
        """Let a folder be used from now on, and return its path; None if it was before.

        Args:
            text: The folder as a person names it.

        Raises:
            FolderRefusedError: It may not be used.
        """
        folder = judge_folder(text, self._project, os.environ)
        if folder in self.paths:
            return None
        self.paths = (*self.paths, folder)
        return folder

    def describe(self) -> list[str] | None:
        """Return the folders; None for none."""
        return list(self.paths) or None

    def restore(self, body: list[str]) -> None:
        """Take the folders of the stored session that may still be used."""
        for each in body:
            try:
                self.add(each)
            except FolderRefusedError:
                continue


def find_added_folders(coordinator: Any) -> AddedFolders:
    """Return those of a session, which has them from now on."""
    found = coordinator.get_capability(SESSION_ADDED_FOLDERS)
    if not isinstance(found, AddedFolders):
        found = AddedFolders(Path(coordinator.get_capability(SESSION_WORKING_DIR) or "."))
        coordinator.register_capability(SESSION_ADDED_FOLDERS, found)
    return found


def describe_added(folder: str) -> str:
    """Return what the model reads of a folder."""
    return (
        f"{_BEGINNING}`{folder}`, too, as the working folder: name what is in it by absolute paths."
        " Changes there cannot be undone.]"
    )


def is_told_of_folder(text: str) -> bool:
    """Whether a message is one of `describe_added`, and nobody typed it."""
    return text.startswith(_BEGINNING)


def judge_folder(text: str, project: Path, environment: Mapping[str, str]) -> str:
    """Return the absolute path of a folder that may be used beside the project.

    Args:
        text: The folder as a person names it, from the project.
        project: The folder that the tools work in, links followed.
        environment: Says where the folders of the user are.

    Raises:
        FolderRefusedError: It may not, and what would be right.
    """
    if ".." in Path(text).parts:
        named = os.path.normpath(os.path.join(project, os.path.expanduser(text)))
        raise FolderRefusedError(f"`{text}` has `..` in it: name `{named}`")
    path = Path(os.path.normpath(os.path.join(project, os.path.expanduser(text))))
    if not path.is_dir():
        what = "is no folder" if path.exists() else "is not there"
        raise FolderRefusedError(f"`{path}` {what}: name a folder that is")
    if (real := os.path.realpath(path)) != str(path):
        raise FolderRefusedError(f"`{path}` leads by a link to `{real}`: name that folder itself")
    if path.is_relative_to(project):
        raise FolderRefusedError(f"`{path}` is in the project already")
    if path == Path(path.anchor) or any(path.is_relative_to(each) for each in _OF_SYSTEM):
        raise FolderRefusedError(f"`{path}` is of the system: name a folder with what you work on")
    for kept in _list_kept(environment):
        if kept.is_relative_to(path) and kept == find_home():
            hint = "name a folder in it"
            raise FolderRefusedError(f"`{path}` is your home, or holds it: {hint}")
        if kept.is_relative_to(path) and kept != path:
            hint = "name a folder that does not"
            raise FolderRefusedError(f"`{path}` holds `{kept}`, which tools do not use: {hint}")
        if path.is_relative_to(kept) and kept != find_home():
            why = "decides what may run, or holds sessions or secrets"
            hint = "copy what is needed into the project"
            raise FolderRefusedError(f"`{path}` {why}: {hint}")
    if project.is_relative_to(path):
        hint = f"name one beside it, or work there (`-C {path}`)"
        raise FolderRefusedError(f"`{path}` holds the project: {hint}")
    if not os.access(path, os.R_OK | os.X_OK):
        raise FolderRefusedError(f"`{path}` cannot be read: change its rights, or name another")
    return str(path)


def _list_kept(environment: Mapping[str, str]) -> list[Path]:
    """Return the home of the user, the folders that settings and sessions are in, and of secrets."""
    home = find_home()
    own = (find_config_folder(environment), find_state_folder(environment), find_claude_folder())
    secrets = [] if home is None else [Path(each) for each in secret_places(home)]
    listed = [home, *own, *(each for each in secrets if each.is_dir())]
    return [Path(os.path.realpath(each)) for each in listed if each is not None]
