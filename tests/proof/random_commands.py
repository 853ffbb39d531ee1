"""Does random things to the files of a folder, and prints what is then seen of it.

As a program, on an overlay: `random_commands.py FOLDER SEED LOOK ATTRIBUTE…`.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

NAMES = ["a", "b", "c", "d", "e"]
STEPS = 14
ATTRIBUTES = ["user.one", "user.two", "user.overlay.opaque"]
"""The last is of the kernel, where it is in a project: no command sees it there."""


class RandomCommand:
    """Random steps on the files of a folder; what cannot be done is left out."""

    def __init__(self, folder: Path, seed: int, names: Sequence[str] = ATTRIBUTES) -> None:
        self._folder = folder
        self._random = random.Random(seed)
        self._names = names

    def run(self, steps: int = STEPS) -> None:
        """Do so many steps."""
        choices: list[Callable[[], object]] = [
            self._write,
            self._write,
            self._append,
            self._make_folder,
            self._delete,
            self._delete,
            self._replace_folder,
            self._rename,
            self._link,
            self._hard_link,
            self._set_mode,
            self._set_attribute,
            self._set_time,
        ]
        for _ in range(steps):
            with suppress(OSError, shutil.Error):
                self._random.choice(choices)()

    def _pick(self) -> Path:
        depth = self._random.choice([1, 1, 2, 2, 3])
        return self._folder.joinpath(*(self._random.choice(NAMES) for _ in range(depth)))

    def _write(self) -> None:
        path = self._pick()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self._random.randbytes(self._random.randrange(20)))

    def _append(self) -> None:
        with self._pick().open("ab") as file:
            file.write(b"more")

    def _make_folder(self) -> None:
        self._pick().mkdir(parents=True)

    def _delete(self) -> None:
        path = self._pick()
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()

    def _replace_folder(self) -> None:
        path = self._pick()
        shutil.rmtree(path)
        path.mkdir()
        (path / self._random.choice(NAMES)).write_bytes(b"replaced")

    def _rename(self) -> None:
        self._pick().rename(self._pick())

    def _link(self) -> None:
        self._pick().symlink_to(self._random.choice(NAMES))

    def _hard_link(self) -> None:
        self._pick().hardlink_to(self._pick())

    def _set_mode(self) -> None:
        path = self._pick()
        if not path.is_symlink():
            path.chmod(self._random.choice([0o755, 0o700, 0o644, 0o400]))

    def _set_attribute(self) -> None:
        name = self._random.choice(self._names)
        os.setxattr(self._pick(), name, self._random.randbytes(3), follow_symlinks=False)

    def _set_time(self) -> None:
        times = (1, self._random.randrange(10**18))
        os.utime(self._pick(), ns=times, follow_symlinks=False)


def look(folder: Path) -> list[str]:
    """Return all that is seen of a folder: types, modes, owners, times, contents, attributes."""
    found: list[str] = []
    paths = [folder]
    while paths:
        path = paths.pop()
        stat = path.lstat()
        content = b""
        if path.is_symlink():
            content = os.fsencode(path.readlink())
        elif path.is_dir():
            paths.extend(path.iterdir())
        else:
            content = path.read_bytes()
        names = sorted(os.listxattr(path, follow_symlinks=False))
        attributes = [(each, os.getxattr(path, each, follow_symlinks=False)) for each in names]
        seen = (stat.st_mode, stat.st_uid, stat.st_gid, stat.st_mtime_ns, content, attributes)
        found.append(f"{path.relative_to(folder)} {seen!r}")
    return sorted(found)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    RandomCommand(target, int(sys.argv[2]), names=sys.argv[4:]).run()
    Path(sys.argv[3]).write_text("\n".join(look(target)))
