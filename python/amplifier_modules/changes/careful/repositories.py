"""What git uses of a project besides its folder `.git`: as it is before a change."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator
from functools import cached_property

from .git_config import GitConfigError, Setting, parse_git_config
from .git_keys import split_key
from .inherited import Inherited
from .plain_file import read_beginning, read_plain_file

_HEAD = re.compile(rb"ref:\s*refs/|[0-9a-fA-F]{40}")
_HEAD_BYTES = 256
_LEADING = frozenset({"core.hookspath", "include.path", "includeif.path"})


class ClosedFileError(GitConfigError):
    """Settings that nobody may read now."""


class Repositories:
    """Finds repositories of other names, and what the settings of the project lead to."""

    def __init__(self, project: str | None) -> None:
        """Look in a project; None for one of which nothing is known."""
        self._project = None if project is None else os.path.realpath(project)
        self._found = Inherited(self._has_head)

    def find_inside(self, path: str) -> list[str] | None:
        """Return the names of a path from the repository that it is in; None if it is in none."""
        if self._project is None or not path:
            return None
        folder = self._found.find(posixpath.dirname(path))
        return None if folder is None else path[len(folder) :].strip("/").split("/")

    def is_led_to(self, path: str) -> bool:
        """Whether settings of git name a path, or a folder that it is in."""
        return any(path == each or path.startswith(f"{each}/") for each in self._led)

    def is_at(self, path: str) -> bool:
        """Whether a folder is a repository, or has the checkout of one."""
        if self._project is None:
            return False
        leading = os.path.join(self._project, path, ".git")
        return self._has_head(path) or os.path.lexists(leading)

    def leads_out(self, address: str, settings: str) -> bool:
        """Whether hooks could be planted where the address of a remote leads to.

        Args:
            address: The remote: a path counts, unless it is that of a repository of the project.
            settings: The file that is to have it, from the project; that of a new repository has
                where it comes from, as git sets it.
        """
        folder = posixpath.dirname(settings)
        if self._project is None or not _is_local(address) or not self._has_head(folder):
            return False
        place = address.removeprefix("file://")
        full = os.path.join(self._project, posixpath.dirname(folder), place)
        path = self._find_path(os.path.realpath(full))
        return path is None or not self.is_at(path)

    def _has_head(self, folder: str) -> bool:
        return self._project is not None and is_head(os.path.join(self._project, folder, "HEAD"))

    @cached_property
    def _led(self) -> frozenset[str]:
        if self._project is None:
            return frozenset()
        found = (self._find_path(path) for path in _find_led(self._project))
        return frozenset(path for path in found if path)

    def _find_path(self, full: str) -> str | None:
        """Return a path from the project; None if it is outside."""
        assert self._project is not None
        path = os.path.relpath(full, self._project)
        return None if path == ".." or path.startswith("../") else path


def is_head(path: str) -> bool:
    """Whether git would read a file or a link as the `HEAD` of a repository, or could soon."""
    try:
        return os.readlink(path).startswith("refs/")
    except PermissionError:
        return True
    except OSError:
        pass
    try:
        return _HEAD.match(read_beginning(path, _HEAD_BYTES)) is not None
    except PermissionError:
        return True


def read_settings(path: str | None) -> list[Setting]:
    """Return what a file of settings says; nothing without one.

    Raises:
        ClosedFileError: Its mode keeps us out.
        GitConfigError: It cannot be read as one.
    """
    if path is None:
        return []
    try:
        content = read_plain_file(path)
    except PermissionError as error:
        raise ClosedFileError(str(error)) from error
    if content is None:
        raise GitConfigError("it cannot be read")
    return parse_git_config(content)


def _is_local(address: str) -> bool:
    """Whether git reads the address of a remote as a path of this machine."""
    scheme, separator, _ = address.partition("://")
    if separator:
        return scheme.lower() == "file"
    return ":" not in address.partition("/")[0]


def _find_led(project: str) -> Iterator[str]:
    """Yield the paths that settings of the repository of a project name, with links followed too."""
    for folder in _find_repository(project):
        for name in ("config", "config.worktree"):
            try:
                settings = read_settings(os.path.join(folder, name))
            except GitConfigError:
                continue
            for key, value in settings:
                section, _, last = split_key(key)
                if value and f"{section}.{last}" in _LEADING:
                    # Hooks are named from the checkout, and settings from the file.
                    start = project if section == "core" else folder
                    full = os.path.join(start, os.path.expanduser(value))
                    yield os.path.normpath(full)
                    yield os.path.realpath(full)


def _find_repository(project: str) -> Iterator[str]:
    """Yield the folder of the repository of a project, and that of its settings if it is another."""
    folder = os.path.join(project, ".git")
    content = _read_if_open(folder)
    if content.startswith(b"gitdir:"):
        target = os.fsdecode(content.removeprefix(b"gitdir:").strip())
        folder = os.path.join(project, target)
    yield folder
    if common := _read_if_open(os.path.join(folder, "commondir")):
        yield os.path.join(folder, os.fsdecode(common.strip()))


def _read_if_open(path: str) -> bytes:
    try:
        return read_plain_file(path) or b""
    except PermissionError:
        return b""
