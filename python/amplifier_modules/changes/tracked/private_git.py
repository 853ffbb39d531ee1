"""Git on a store of our own, which runs nothing that a project or a user has configured."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO

from amplifier_modules.changes.change import ChangeError

_SECONDS = 30
_ADD_SECONDS = 300
"""All files of a project are read for its first state."""
_FEW_FILES = 200
"""Above this number one pack is written in place of a file for each object."""

_CONFIG = """\
[core]
\trepositoryFormatVersion = 0
\tbare = false
\tfileMode = true
\tsymlinks = true
\tignoreCase = false
\tprecomposeUnicode = false
\tprotectHFS = false
\tprotectNTFS = false
\tautocrlf = false
\tsafecrlf = false
\tattributesFile = /dev/null
\texcludesFile = /dev/null
\thooksPath = /dev/null
\tfsmonitor = false
\tuntrackedCache = false
\tsplitIndex = false
\tsparseCheckout = false
\ttrustctime = true
\tcheckStat = default
\tcompression = 1
\tfsync = none
[gc]
\tauto = 0
[maintenance]
\tauto = false
"""
_ATTRIBUTES = "* -text -filter -ident !working-tree-encoding !eol !crlf -diff -merge\n"
"""Counts before every `.gitattributes`, so that bytes stay as they are."""


def find_git(project: str | None = None) -> str | None:
    """Return the absolute path of a git that can be run; None if there is none.

    Args:
        project: No program in this folder counts, whatever `PATH` says.
    """
    places = os.environ.get("PATH", os.defpath).split(os.pathsep)
    inside = None if project is None else os.path.realpath(project)
    found = (shutil.which("git", path=each) for each in places if os.path.isabs(each))
    outside = (each for each in found if each and not _is_inside(each, inside))
    return next((each for each in outside if _is_usable(each)), None)


class GitTimeoutError(ChangeError):
    """A command of git that took too long."""


class PrivateGit:
    """A GIT_DIR of our own, with a work tree that is not ours."""

    def __init__(self, folder: str, work_tree: str, directory: str) -> None:
        """Make the store if it is not there.

        Args:
            folder: The GIT_DIR.
            work_tree: Where the rules of what is ignored begin to count.
            directory: The folder in it that the paths count from.

        Raises:
            ChangeError: Git is not installed, or the store cannot be made.
        """
        program = find_git(directory)
        if program is None or os.name != "posix":
            raise ChangeError("files can be tracked only where git is installed")
        self._program = program
        self._folder = Path(folder)
        self._directory = directory
        self._environment = {
            "PATH": os.defpath,
            "LC_ALL": "C",
            "HOME": folder,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_DIR": folder,
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_WORK_TREE": work_tree,
        }
        try:
            self._make_store()
        except OSError as error:
            raise ChangeError(f"the store of tracked files cannot be made: {error}") from error

    def run(self, *arguments: str, content: bytes = b"", index: str | None = None) -> bytes:
        """Run one command of git, and return what it prints.

        Args:
            arguments: The command and its options; paths are given by `content`.
            content: What it reads.
            index: A file to use as the index in place of our own.

        Raises:
            ChangeError: It fails or takes too long.
        """
        extra = {} if index is None else {"GIT_INDEX_FILE": index}
        return self._start([*arguments], content, extra)

    def write_blobs(self, ids: Iterable[str], output: IO[bytes]) -> None:
        """Write objects to a file, in the form of `git cat-file --batch`.

        Raises:
            ChangeError: As for `run`.
        """
        content = "".join(f"{each}\n" for each in ids).encode()
        self._start(["cat-file", "--batch", "--buffer"], content, {}, output)

    def add(self, paths: list[bytes]) -> None:
        """Have the index hold these paths as they are now; what is gone is removed from it."""
        # Git streams larger files into one pack, without deltas.
        many = ["-c", "core.bigFileThreshold=1"] if len(paths) > _FEW_FILES else []
        options = ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"]
        self._start([*many, *options], _join_paths(paths), {})

    def forget(self, paths: list[bytes]) -> None:
        """Remove paths from the index, whatever is there now."""
        if paths:
            self.run("update-index", "-z", "--force-remove", "--stdin", content=_join_paths(paths))

    def find_ignored(self, paths: list[bytes]) -> list[bytes]:
        """Return the paths that are ignored, or lie in a folder that is; they need not exist."""
        options = ("-z", "--stdin", "--no-index")
        try:
            printed = self.run("check-ignore", *options, content=_join_paths(paths))
        except ChangeError:
            return []  # git fails where no path is ignored
        return printed.split(b"\0")[:-1]

    def write_excludes(self, rules: bytes) -> None:
        """Set what is ignored beside what each `.gitignore` says."""
        path = self._folder / "info" / "exclude"
        with suppress(FileNotFoundError):
            if path.read_bytes() == rules:
                return
        path.write_bytes(rules)

    def clear_lock(self) -> None:
        """Remove what a git that was killed has left; the caller knows that none runs."""
        (self._folder / "index.lock").unlink(missing_ok=True)

    def _make_store(self) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in ("info", "objects", "refs"):
            (self._folder / name).mkdir(exist_ok=True)
        (self._folder / "config").write_text(_CONFIG)
        (self._folder / "info" / "attributes").write_text(_ATTRIBUTES)
        (self._folder / "HEAD").write_text("ref: refs/heads/main\n")

    def _start(
        self,
        arguments: list[str],
        content: bytes,
        extra: Mapping[str, str],
        output: IO[bytes] | None = None,
    ) -> bytes:
        command = next(each for each in arguments if not each.startswith(("-", "core.")))
        seconds = _ADD_SECONDS if command == "update-index" else _SECONDS
        try:
            ended = subprocess.run(
                [self._program, *arguments],
                input=content,
                stdout=output or subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self._directory,
                env={**self._environment, **extra},
                timeout=seconds,
                check=False,
            )
        except (OSError, ValueError) as error:
            raise ChangeError(f"`git {command}` cannot be run: {error}") from error
        except subprocess.TimeoutExpired as error:
            raise GitTimeoutError(f"`git {command}` took more than {seconds} s") from error
        if ended.returncode != 0:
            message = ended.stderr.decode(errors="backslashreplace").strip()
            raise ChangeError(f"`git {command}` failed: {message or ended.returncode}")
        return ended.stdout or b""


def _is_inside(program: str, folder: str | None) -> bool:
    places = (program, os.path.realpath(program))
    return folder is not None and any(Path(each).is_relative_to(folder) for each in places)


@cache
def _is_usable(program: str) -> bool:
    try:
        # Where the tools of Xcode are missing, macOS has a git that only says so.
        ended = subprocess.run(
            [program, "--version"], capture_output=True, env={}, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ended.returncode == 0


def _join_paths(paths: list[bytes]) -> bytes:
    return b"".join(path + b"\0" for path in paths)
