"""A project before and after a command, without an overlay."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from amplifier_modules.changes.careful import find_careful_changes
from amplifier_modules.changes.change import ChangedPath


class Both:
    """A project as it was and as it is to be, of which the changes are listed as of an overlay."""

    def __init__(self, folder: Path) -> None:
        self.before, self.after = folder / "before", folder / "after"
        self.before.mkdir()

    def begin(self) -> None:
        shutil.copytree(self.before, self.after, symlinks=True)

    def list_changes(self) -> list[ChangedPath]:
        paths = {each.relative_to(self.before) for each in self.before.rglob("*")}
        paths |= {each.relative_to(self.after) for each in self.after.rglob("*")}
        return list(self._compare(paths))

    def _compare(self, paths: set[Path]) -> Iterator[ChangedPath]:
        for path in sorted(paths):
            old, new = (
                each if each.is_symlink() or each.exists() else None
                for each in (self.before / path, self.after / path)
            )
            shown = new or old
            assert shown is not None
            kind = "created" if old is None else "deleted" if new is None else "modified"
            of = find_type(shown)
            if old and new and find_type(old) == of and (of == "folder" or have_same(old, new)):
                continue
            before, after = (each and str(each) for each in (old, new))
            yield ChangedPath(str(path), kind, of, before, after, shown.lstat().st_size)


def find_type(path: Path) -> Literal["file", "folder", "link"]:
    if path.is_symlink():
        return "link"
    return "folder" if path.is_dir() else "file"


def have_same(one: Path, other: Path) -> bool:
    """Whether two files have the same content and mode, or two links the same target."""
    if one.is_symlink():
        return one.readlink() == other.readlink()
    modes = {each.stat().st_mode for each in (one, other)}
    return len(modes) == 1 and one.read_bytes() == other.read_bytes()


def write(root: Path, path: str, content: str = "x") -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(content)


def list_reasons(both: Both) -> dict[str, str]:
    """Return why each path asks."""
    found = find_careful_changes(both.list_changes(), project=str(both.before))
    return {path: each.reason for each in found for path in each.paths}
