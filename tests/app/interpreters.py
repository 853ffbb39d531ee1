"""The other CPythons of this machine that can use the wheel: one for each minor version.

As a program it prints their paths, a line each: `make prove` runs the suites on all of them.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

OLDEST, NEWEST = 11, 20
WHICH = (
    "import platform, sys\n"
    "is_usual = platform.python_implementation() == 'CPython' and not sys.flags.no_site\n"
    "is_locked = getattr(sys, '_is_gil_enabled', lambda: True)()\n"
    "print(sys.version_info.minor if is_usual and is_locked else 0)"
)
"""Builds without a lock need a wheel of their own."""


def find_interpreters() -> dict[int, Path]:
    """Return the CPythons on `PATH`, of pyenv and of uv, by minor version, without this one."""
    found: dict[int, Path] = {}
    for path in _candidates():
        minor = _minor_version(path)
        if OLDEST <= minor != sys.version_info.minor:
            found.setdefault(minor, path)
    return dict(sorted(found.items()))


def _candidates() -> Iterator[Path]:
    for minor in range(OLDEST, NEWEST):
        if path := shutil.which(f"python3.{minor}"):
            yield Path(path)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from sorted(pyenv.glob("versions/3.*/bin/python"), key=_by_number, reverse=True)
    uv = Path.home() / ".local/share/uv/python"
    yield from sorted(uv.glob("cpython-3.*/bin/python3"), key=_by_number, reverse=True)


def _by_number(path: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", path.parents[1].name)]


def _minor_version(path: Path) -> int:
    """Return 0 for what is no CPython, such as a name of pyenv without a version behind it."""
    done = subprocess.run([path, "-c", WHICH], capture_output=True, text=True, check=False)
    return int(done.stdout) if done.returncode == 0 else 0


if __name__ == "__main__":
    for interpreter in find_interpreters().values():
        print(interpreter)
