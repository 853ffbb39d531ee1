"""The part of a large folder that one call looks at, so that it ends soon."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fnmatch import translate
from threading import Event

from amplifier_guard import PathPolicy
from amplifier_modules.tools.folder import path_text
from amplifier_modules.tools.result_bytes import echo_argument

_MAX_NAMED = 5
_MAX_SENTENCE_BYTES = 8192
_STOP_INTERVAL = 1024
_MAX_CHARACTERS = 4_000_000
"""Of all paths together, which are long where folders are deep."""
_NAMES = 10
"""How many names may be read for each file and folder that is looked at."""
_LARGE = 4
"""A folder with more than this part of the bound is looked at last: it must not hide all others."""
_IS_SUPPORTED = os.open in os.supports_dir_fd and os.scandir in os.supports_fd


@dataclass(frozen=True)
class Bound:
    """How much one call looks at."""

    entries: int
    """Folders, and files whose names fit."""
    parts: int
    """Separate looks: each has a price of its own, such as that of its regular expression."""


@dataclass(frozen=True)
class Part:
    """One look: a folder without those beneath it, or a single file."""

    path: str
    skip: tuple[str, ...] = ()
    """The names of the folders in it."""


@dataclass
class Scope:
    """The parts of a folder that is too large to be looked at as a whole."""

    entries: int
    """How many files and folders are in the parts."""
    parts: list[Part] = field(default_factory=list[Part])
    left_out: list[str] = field(default_factory=list[str])
    """The first folders that are not looked at, or not to their end, by their paths."""
    others: int = 0
    """How many more such folders are known."""

    def leave_out(self, folder: str) -> None:
        """Note a folder that is not looked at, or not to its end."""
        if len(self.left_out) < _MAX_NAMED:
            self.left_out.append(folder)
        else:
            self.others += 1

    def write_sentence(self) -> str:
        """Say what is left out, and how to look there."""
        paths = [path_text(path) for path in self.left_out]
        named = ", ".join(f"`{echo_argument(path, _MAX_SENTENCE_BYTES)}`" for path in paths)
        rest = f" and {self.others:,} more" if self.others else ""
        return (
            f"The folder is too large for one call: this covers {self.entries:,} of its files and"
            f" folders. Left out, in whole or in part: {named}{rest}."
            " Set `path` to a folder, or name the files more exactly, to look there."
        )


def scope_of(
    policy: PathPolicy,
    path: str,
    name: str,
    *,
    bound: Bound,
    skipped: Iterable[str],
    stop: Event,
) -> Scope | None:
    """Choose what to look at, folders at the top first; None if all of it is within the bound.

    Names are read and nothing else, and only so many. No link is followed.

    Args:
        policy: Whose root the path counts from.
        path: The folder.
        name: A pattern over the names of the files.
        bound: How much to look at.
        skipped: The names of folders that are not entered.
        stop: Set when the call was cancelled.

    Raises:
        InterruptedError: `stop` was set.
        OSError: The path does not exist, or must not be read.
    """
    if not _IS_SUPPORTED:
        return None
    start, leave = policy.resolve(path), frozenset(skipped)
    scope, reader = Scope(0), _Reader(policy.root, name, bound.entries * _NAMES, stop)
    characters = 0
    near, late = deque([start]), deque[str]()
    while near or late:
        is_late = not near
        folder = near.popleft() if near else late.popleft()
        room = bound.entries - scope.entries
        most = room if is_late else min(room, max(bound.entries // _LARGE, 1))
        if len(scope.parts) >= bound.parts or room <= 0 or reader.is_exhausted:
            scope.leave_out(folder)
            continue
        try:
            files, folders = reader.list_names(folder, most + 1)
        except InterruptedError:
            raise
        except OSError:
            if folder == start:
                return None  # a file, or what cannot be read: the look itself says so
            files, folders = [], []
        if len(files) + len(folders) > most or reader.is_exhausted:
            if not is_late:
                late.append(folder)
                continue
            # Half of what is left: the rest is for the folders in it.
            taken = sorted(files)[: min(room, bound.parts - len(scope.parts)) // 2]
            scope.entries += len(taken)
            scope.parts += [Part(_join(folder, name)) for name in taken]
            scope.leave_out(folder)
        else:
            scope.entries += len(files) + len(folders)
            scope.parts.append(Part(folder, tuple(folders)))
        for inner in (_join(folder, each) for each in sorted(folders) if each not in leave):
            characters += len(inner)
            if characters < _MAX_CHARACTERS:
                near.append(inner)
            else:
                scope.leave_out(inner)
    return scope if scope.left_out else None


class _Reader:
    """Reads the names in folders, up to a number in all."""

    def __init__(self, root: str, pattern: str, left: int, stop: Event) -> None:
        self._root = root
        # What else a pattern may hold is for the walk itself to read.
        is_plain = not any(mark in pattern for mark in "[]{}\\")
        self._fits = re.compile(translate(pattern)).match if is_plain else None
        self._left = left
        self._stop = stop

    @property
    def is_exhausted(self) -> bool:
        """Whether no more names are to be read."""
        return self._left <= 0

    def list_names(self, folder: str, most: int) -> tuple[list[str], list[str]]:
        """The names of the first files that fit and of the first folders, at most so many."""
        files: list[str] = []
        folders: list[str] = []
        with _open_folder(self._root, folder) as handle, os.scandir(handle) as entries:
            for number, entry in enumerate(entries):
                if number % _STOP_INTERVAL == 0 and self._stop.is_set():
                    raise InterruptedError(f"reading `{folder}` was stopped before its end")
                self._left -= 1
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                elif self._fits is None or self._fits(entry.name):
                    files.append(entry.name)
                if len(files) + len(folders) == most or self.is_exhausted:
                    break
        return files, folders


@contextmanager
def _open_folder(root: str, folder: str) -> Generator[int]:
    """Open a folder step by step from the root: no link on the way can lead out of it."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    handle = os.open(root, flags)
    try:
        for name in folder.split("/"):
            if name not in {"", "."}:
                inner = os.open(name, flags, dir_fd=handle)
                handle, outer = inner, handle
                os.close(outer)
        yield handle
    finally:
        with suppress(OSError):
            os.close(handle)


def _join(folder: str, name: str) -> str:
    return name if folder == "." else f"{folder}/{name}"
