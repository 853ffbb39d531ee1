"""Writes of several files that are all made, or taken back."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial

from amplifier_core import world
from amplifier_guard import PathPolicy
from amplifier_modules.tools.folder import path_text

from .file_write import FileWrite


class NotWrittenError(OSError):
    """Several writes of which one failed: no file has changed."""


class PartlyWrittenError(OSError):
    """Writes of which one failed, and others could not be taken back."""


class WriteSteps:
    """Makes writes one after the other, and knows how to take each back."""

    def __init__(self, policy: PathPolicy, *, protected: bool) -> None:
        """Write by a policy, if a person agreed protected files too."""
        self._policy = policy
        self._protected = protected
        self._undo: list[tuple[str, Callable[[], object]]] = []
        self._set_aside: list[tuple[FileWrite, str]] = []

    def make(self, writes: Sequence[FileWrite]) -> None:
        """Make all writes, or none.

        Raises:
            OSError: The only one cannot be made.
            NotWrittenError: One of several cannot be made, and all is as it was.
            PartlyWrittenError: One cannot be made, and others could not be taken back; or a deleted
                file could only be renamed.
        """
        try:
            # A file that is set aside is back as it was by another rename: it goes last.
            for write in sorted(writes, key=lambda write: write.kind == "deleted"):
                self._make(write)
        except OSError as error:
            left = self._take_back()
            if left:
                raise PartlyWrittenError(f"{error}; {left}") from error
            if len(writes) > 1:
                raise NotWrittenError(f"{error} (no file was changed)") from error
            raise
        self._remove_set_aside()

    def _remove_set_aside(self) -> None:
        left: list[str] = []
        for write, name in self._set_aside:
            try:
                self._policy.remove(name, expected=write.before, protected=self._protected)
            except OSError as error:
                left.append(f"`{path_text(write.path)}` is left as `{path_text(name)}`: {error}")
        if left:
            raise PartlyWrittenError(f"all was written, but {'; '.join(left)}")

    def _make(self, write: FileWrite) -> None:
        path, before, after = write.path, write.before, write.after
        if write.kind == "deleted":
            name = _name_aside(path)
            self._rename(path, name, before)
            self._set_aside.append((write, name))
            return
        if write.old_path is not None:
            self._rename(write.old_path, path, before)
        if after is None or after == before:
            return
        if before is None:
            self._policy.create(path, after, protected=self._protected)
            self._add_undo(path, partial(self._policy.remove, path, expected=after))
        else:
            self._policy.replace(path, after, expected=before, protected=self._protected)
            self._add_undo(path, partial(self._policy.replace, path, before, expected=after))

    def _rename(self, path: str, new_path: str, content: bytes | None) -> None:
        self._policy.rename(path, new_path, expected=content, protected=self._protected)
        self._add_undo(path, partial(self._policy.rename, new_path, path, expected=content))

    def _add_undo(self, path: str, undo: Callable[..., object]) -> None:
        self._undo.append((path, partial(undo, protected=self._protected)))

    def _take_back(self) -> str:
        """Take all back, and return what could not be."""
        left: list[str] = []
        for path, undo in reversed(self._undo):
            try:
                undo()
            except OSError as error:
                left.append(f"`{path_text(path)}` could not be put back: {error}")
        if not left:
            return ""
        done = [path_text(path) for path, _ in self._undo]
        back = len(done) - len(left)
        return "; ".join([*left, f"{back:,} of {len(done):,} changes before it were taken back"])


def _name_aside(path: str) -> str:
    """Return a name for a file beside itself, until it is removed."""
    return os.path.join(os.path.dirname(path), f".amplifier-{world.random_bytes(8).hex()}.tmp")
