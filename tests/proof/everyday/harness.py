"""Runs an everyday command in a fresh copy of its project, and says what it did."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from importlib.util import find_spec
from pathlib import Path
from threading import Thread

from rows import Row

from amplifier_modules.sandbox.command import Command, CommandRunner
from amplifier_modules.sandbox.environment import build_environment

SECONDS = 120
"""After so long a command is ended."""

_MAX_SHOWN_BYTES = 2000
_GIT_CONFIG = """\
[user]
    name = Everyday
    email = everyday@example.org
[init]
    defaultBranch = main
[protocol "file"]
    allow = always
"""
_DETERMINISTIC = {
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "GIT_AUTHOR_DATE": "2024-01-02T03:04:05Z",
    "GIT_COMMITTER_DATE": "2024-01-02T03:04:05Z",
    "GOPROXY": "off",
    "GOTOOLCHAIN": "local",
    "npm_config_update_notifier": "false",
}


@dataclass(frozen=True)
class Outcome:
    """What a command did."""

    exit_code: int | None
    output: str
    tree: dict[str, str]
    """The mode and the content of all that is in the project, by path."""


@dataclass(frozen=True)
class Place:
    """The folders of one run."""

    project: Path
    temporary: Path
    """For temporary files."""
    caches: Path
    """What programs keep for later, outside of the project; it outlives the run."""


OpenRunner = Callable[[Place], AbstractContextManager[CommandRunner]]
"""Makes what runs commands in a place."""


class Harness:
    """Runs commands, each in the same folder of its own, so that paths are no difference.

    Args:
        folder: A folder that is in no project of git, cargo or pytest, and not beneath `/tmp`, in
            the place of which a sandbox has another one.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._home = folder / "home"
        self._caches = folder / "caches"
        self._caches.mkdir()
        # The interpreter that the virtual environment is of: other ones may be scripts.
        self._path = os.pathsep.join([f"{sys.base_prefix}/bin", *_list_program_folders()])

    def run(self, row: Row, open_runner: OpenRunner) -> Outcome:
        """Run a command on what its row says."""
        with self._make_place(row) as place, open_runner(place) as runner:
            environment = self._make_environment(place)
            _set_up(row, place.project, environment)
            command = Command(row.run, str(place.project), environment, SECONDS)
            exit_code, output = _run_command(command, runner)
            if row.varies_output:
                output = re.sub(row.varies_output, "…", output)
            return Outcome(exit_code, output, dict(_read_tree(place.project, row.varies)))

    def find_missing(self, row: Row) -> list[str]:
        """Find the programs and modules that a row needs and that are not there."""
        programs = [each for each in row.needs if shutil.which(each, path=self._path) is None]
        python = str(shutil.which("python3", path=self._path))
        return programs + [each for each in row.modules if not _has_module(python, each)]

    def _make_environment(self, place: Place) -> dict[str, str]:
        """Return what commands of `tool-bash` get, and what makes them deterministic."""
        ours = {
            **os.environ,
            "PATH": self._path,
            "HOME": str(self._home),
            "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup")),
        }
        return build_environment(ours, place.temporary, place.caches, added=_DETERMINISTIC)

    @contextmanager
    def _make_place(self, row: Row) -> Iterator[Place]:
        folder = self._folder / row.name
        place = Place(folder / "project", folder / "temporary", self._caches)
        place.project.mkdir(parents=True)
        place.temporary.mkdir()
        (self._home / ".java/.userPrefs").mkdir(parents=True)
        (self._home / ".gitconfig").write_text(_GIT_CONFIG)
        try:
            yield place
        finally:
            shutil.rmtree(folder)
            shutil.rmtree(self._home)


def _list_program_folders() -> list[str]:
    folders = os.environ["PATH"].split(os.pathsep)
    return [each for each in folders if "shims" not in each and not each.startswith(sys.prefix)]


def _set_up(row: Row, project: Path, environment: dict[str, str]) -> None:
    for name, content in row.files.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    if row.setup:
        subprocess.run(["bash", "-euc", row.setup], cwd=project, env=environment, check=True)


def _run_command(command: Command, runner: CommandRunner) -> tuple[int | None, str]:
    read, write = os.pipe()
    try:
        running = runner.start(command, write)
    finally:
        os.close(write)
    pieces: list[bytes] = []
    reader = Thread(target=lambda: pieces.extend(iter(lambda: os.read(read, 65_536), b"")))
    reader.start()
    try:
        ending = running.wait()
    finally:
        reader.join()
        os.close(read)
    return ending.exit_code, b"".join(pieces).decode("utf-8", "backslashreplace")


def _read_tree(project: Path, varies: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    skipped = tuple(each for each in varies if each.endswith("/**"))
    for folder, folders, files in os.walk(project):
        for name in (*folders, *files):
            path = Path(folder, name)
            relative = path.relative_to(project).as_posix()
            if not _matches(relative, skipped):
                yield relative, _describe(path, is_compared=not _matches(relative, varies))


def _matches(path: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch(path, each) for each in patterns)


def _describe(path: Path, is_compared: bool) -> str:
    mode = path.lstat().st_mode
    shown = stat.filemode(mode)
    if stat.S_ISLNK(mode):
        return f"{shown} -> {path.readlink()}"
    if not stat.S_ISREG(mode) or not is_compared:
        return shown
    content = path.read_bytes()
    if len(content) > _MAX_SHOWN_BYTES:
        return f"{shown} {hashlib.sha256(content).hexdigest()}"
    return f"{shown} {content.decode('utf-8', 'backslashreplace')}"


def _has_module(python: str, module: str) -> bool:
    if python == sys.executable:
        return find_spec(module) is not None
    found = subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False)
    return found.returncode == 0
