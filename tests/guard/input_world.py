"""The folders, files and links that a row about paths wants to find."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_STANDS_FOR_A_FOLDER = re.compile(r"\A/srv(?=/|\Z)")


@contextmanager
def path_world(setup: dict[str, Any]) -> Iterator[tuple[Path, Callable[[str], str]]]:
    """Make what `setup` names in a temporary folder, which `/srv` stands for.

    Yields the root, and a function from a path of the row to the path in the folder. Whatever
    raises inside must have changed nothing.
    """
    with tempfile.TemporaryDirectory() as folder:
        place = os.path.realpath(folder)

        def actual(path: str) -> str:
            return _STANDS_FOR_A_FOLDER.sub(lambda _: place, path)

        root = Path(actual(setup.get("root", "/srv/proj")))
        root.mkdir(parents=True)
        for name in setup.get("files", ()):
            _write(root / actual(name))
        for name, target in setup.get("hardlinks", {}).items():
            _write(root / actual(target))
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            os.link(root / actual(target), root / name)
        for name, target in setup.get("symlinks", {}).items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).symlink_to(actual(target))
        before = _everything(place)
        try:
            yield root, actual
        except Exception as error:
            if (after := _everything(place)) != before:
                changed = sorted(before.items() ^ after.items())
                raise AssertionError(f"it raised {error!r} and changed {changed}") from error
            raise


def _write(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"what stands in {path.name}", encoding="utf-8", errors="surrogateescape")


def _everything(folder: str) -> dict[str, bytes | str]:
    """Every name below a folder with what is there, or through it, if it is a link."""
    found: dict[str, bytes | str] = {}
    for path in Path(folder).rglob("*"):
        if path.is_symlink():
            found[str(path)] = f"{path.readlink()} exists: {os.path.exists(path)}"
        else:
            found[str(path)] = "folder" if path.is_dir() else path.read_bytes()
    return found
