"""One path of a project: what is there, and how another version of it is put there."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from amplifier_guard import PathPolicy
from amplifier_guard.path import AttributeNotKept, PathChanged, PathDenied

MAX_FILE_BYTES = 50 * 2**20
"""Larger files are not kept."""

# On Windows, where nothing is kept, there are none of these.
_CLOSED = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _CLOSED
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _CLOSED
_NO_HARD_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EMLINK)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _CLOSED


@dataclass(frozen=True)
class Entry:
    """A file or a link, as git knows it."""

    digest: str
    """Of the content, or of where a link leads: the id of its blob."""
    is_link: bool = False
    is_executable: bool = False


@dataclass(frozen=True)
class Found:
    """What is at a path now."""

    entry: Entry | None
    """None for what git does not cover, such as a pipe or a file that is too large."""
    content: bytes = b""


class EntryChangedError(OSError):
    """A path at which something else is than the caller expects."""


class ProjectFolder:
    """Reads and writes paths of a project; no folder on the way to one may be a link."""

    def __init__(self, project: str) -> None:
        """Open no file yet.

        Args:
            project: An absolute path.
        """
        self._project = project
        self._policy = PathPolicy(project)

    def find(self, path: str) -> Found | None:
        """Return what is at a path; None if nothing is, or a folder."""
        try:
            with self._open_parent(path) as (parent, name):
                return _find(parent, name)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:
            return Found(None)  # its folder cannot be read

    def replace(self, path: str, old: Found | None, new: Entry | None, content: bytes) -> None:
        """Put an entry in the place of what was found, or remove that; made again, it does nothing.

        A file is exchanged at once, and looked at after that. For links, and for names that
        `PathPolicy` refuses, the old entry is read again right before the rename.

        Raises:
            EntryChangedError: Something else is there by now, which stays.
            OSError: It cannot be written.
        """
        if new is None:
            self._remove(path, old)
        elif old is None:
            self._create(path, new, content)
        elif old.entry is None:
            raise EntryChangedError(errno.EEXIST, "something else is there")
        elif old.entry.is_link or new.is_link:
            self._rename_over(path, old, new, content)
        else:
            if old.entry.digest != new.digest:
                self._exchange(path, old, new, content)
            self._set_executable(path, new)

    def remove_leftover(self, path: str) -> None:
        """Remove the temporary file of a write that a crash interrupted."""
        with suppress(OSError), self._open_parent(path) as (parent, _):
            _remove_name(parent, _name_temporary(path))

    def remove_empty_folder(self, path: str) -> bool:
        """Remove a folder if nothing is in it, and return whether that was so."""
        try:
            with self._open_parent(path) as (parent, name):
                os.rmdir(name, dir_fd=parent)
        except OSError:
            return False
        return True

    def _exchange(self, path: str, old: Found, new: Entry, content: bytes) -> None:
        try:
            landed = self._policy.replace(path, content, expected=old.content, protected=True)
        except (AttributeNotKept, PathChanged) as error:
            raise EntryChangedError(errno.EBUSY, str(error)) from error
        except (PathDenied, ValueError):
            self._rename_over(path, old, new, content)
        else:
            if landed != path:
                raise EntryChangedError(errno.ELOOP, f"it leads to `{landed}`")

    def _rename_over(self, path: str, old: Found, new: Entry, content: bytes) -> None:
        with self._open_parent(path) as (parent, name):
            temporary = _write_beside(parent, path, new, content)
            try:
                if not new.is_link and old.entry is not None and not old.entry.is_link:
                    _copy_mode(parent, name, temporary)
                if _find(parent, name) != old:
                    raise EntryChangedError(errno.EBUSY, "it has changed just now")
                os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
            except OSError:
                _remove_name(parent, temporary)
                raise

    def _create(self, path: str, new: Entry, content: bytes) -> None:
        with self._open_parent(path, make=True) as (parent, name):
            try:
                if new.is_link:
                    os.symlink(os.fsdecode(content), name, dir_fd=parent)
                else:
                    _create_file(parent, name, _write_beside(parent, path, new, content))
            except FileExistsError as error:
                raise EntryChangedError(errno.EEXIST, "something is there by now") from error

    def _remove(self, path: str, old: Found | None) -> None:
        if old is None:
            return
        if old.entry is not None and not old.entry.is_link:
            try:
                self._policy.remove(path, expected=old.content, protected=True)
            except PathChanged as error:
                raise EntryChangedError(errno.EBUSY, str(error)) from error
            except (PathDenied, ValueError):
                pass
            else:
                return
        with self._open_parent(path) as (parent, name):
            if _find(parent, name) != old:
                raise EntryChangedError(errno.EBUSY, "it has changed just now")
            os.unlink(name, dir_fd=parent)

    def _set_executable(self, path: str, new: Entry) -> None:
        with self._open_parent(path) as (parent, name):
            file = os.open(name, _READ, dir_fd=parent)
            try:
                mode = stat.S_IMODE(os.fstat(file).st_mode)
                if bool(mode & stat.S_IXUSR) != new.is_executable:
                    os.fchmod(
                        file, mode | (mode & 0o444) >> 2 if new.is_executable else mode & ~0o111
                    )
            finally:
                os.close(file)

    @contextmanager
    def _open_parent(self, path: str, *, make: bool = False) -> Generator[tuple[int, str]]:
        """Open the folder that a path is in, step by step, and yield it with the last name."""
        *parts, name = path.split("/")
        folder = os.open(self._project, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for part in parts:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(part, dir_fd=folder)
                # A link is no folder here: `O_NOFOLLOW`.
                try:
                    inner = os.open(part, _FOLDER, dir_fd=folder)
                except OSError as error:
                    if error.errno == errno.ELOOP:
                        raise NotADirectoryError(errno.ENOTDIR, "not a folder", part) from error
                    raise
                os.close(folder)
                folder = inner
            yield folder, name
        finally:
            os.close(folder)


def hash_blob(content: bytes) -> str:
    """Return the id that git gives to a content."""
    head = b"blob %d\0" % len(content)
    return hashlib.sha1(head + content, usedforsecurity=False).hexdigest()


def _find(parent: int, name: str) -> Found | None:
    try:
        status = os.stat(name, dir_fd=parent, follow_symlinks=False)
        if stat.S_ISLNK(status.st_mode):
            target = os.fsencode(os.readlink(name, dir_fd=parent))
            return Found(Entry(hash_blob(target), is_link=True), target)
        if stat.S_ISDIR(status.st_mode):
            return None  # nothing that git has a version of
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_FILE_BYTES:
            return Found(None)
        file = os.open(name, _READ, dir_fd=parent)
    except FileNotFoundError:
        return None
    except OSError:
        return Found(None)
    with os.fdopen(file, "rb") as opened:
        status = os.fstat(opened.fileno())
        if not stat.S_ISREG(status.st_mode):
            return Found(None)
        content = opened.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        return Found(None)
    is_executable = bool(status.st_mode & stat.S_IXUSR)
    return Found(Entry(hash_blob(content), is_executable=is_executable), content)


def _name_temporary(path: str) -> str:
    """Return a name that is the same each time, so that what a crash has left is found."""
    return f".amplifier-{hash_blob(os.fsencode(path))[:16]}.tmp"


def _write_beside(parent: int, path: str, new: Entry, content: bytes) -> str:
    temporary = _name_temporary(path)
    _remove_name(parent, temporary)
    if new.is_link:
        os.symlink(os.fsdecode(content), temporary, dir_fd=parent)
        return temporary
    mode = 0o777 if new.is_executable else 0o666
    with os.fdopen(os.open(temporary, _CREATE, mode, dir_fd=parent), "wb") as file:
        file.write(content)
    return temporary


def _create_file(parent: int, name: str, temporary: str) -> None:
    """Give a file its name, unless something has that name."""
    try:
        # Unlike a rename, this replaces nothing.
        os.link(temporary, name, src_dir_fd=parent, dst_dir_fd=parent, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS or _find(parent, name) is not None:
            raise
        os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
    finally:
        _remove_name(parent, temporary)


def _copy_mode(parent: int, name: str, temporary: str) -> None:
    """Give a file the mode of another one, apart from who may execute it."""
    old = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
    file = os.open(temporary, _READ, dir_fd=parent)
    try:
        new = os.fstat(file).st_mode & 0o111
        os.fchmod(file, stat.S_IMODE(old) & 0o666 | (new & (old & 0o444) >> 2))
    finally:
        os.close(file)


def _remove_name(parent: int, name: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=parent)
