"""Reads the notes of a user and of a project, from files that are opened with care."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath

from amplifier_guard import PathDenied, PathPolicy, TerminalText
from amplifier_modules.instructions.places import (
    Origin,
    find_claude_folder,
    list_project_folders,
)
from amplifier_modules.instructions.written_text import (
    WrittenTextError,
    describe_refusal,
    read_written_text,
)
from amplifier_modules.running.user_folders import find_config_folder

from .imports import list_imports
from .note import Note, Notes

AGENTS, CLAUDE, LOCAL = "AGENTS.md", "CLAUDE.md", "CLAUDE.local.md"
_MAX_DEPTH = 5
"""How many files may import each other one after the other."""
_MAX_IMPORTS = 100
_MAX_PROBLEMS = 20


class NoteFiles:
    """The notes of one user and one project."""

    def __init__(
        self, working: Path, environment: Mapping[str, str], max_bytes: int, *, user_notes: bool
    ) -> None:
        """Find the folders.

        Args:
            working: The folder that an agent works in.
            environment: The variables that name the folder of the configuration.
            max_bytes: Bytes of all notes together.
            user_notes: Whether the user's own are read.

        Raises:
            OSError: The working folder cannot be opened.
        """
        folders = list_project_folders(working)
        self._project = PathPolicy(folders[0])
        self._folders = [_make_relative(each, folders[0]) for each in folders]
        self._working = self._folders[-1]
        self._user = list(_list_user_files(environment)) if user_notes else []
        self._max_bytes = max_bytes

    def read(self, inner_folders: Iterable[str] = ()) -> Notes:
        """Return all notes, the user's own first, and then from the root of the project down.

        Args:
            inner_folders: Folders beneath the working folder whose notes are read, too.
        """
        reading = _Reading(self._max_bytes)
        for path in self._user:
            try:
                # The user's own file may be a link to anywhere.
                path = path.resolve()
                policy = PathPolicy(path.parent)
            except (OSError, RuntimeError):
                continue  # there is none
            if reading.add("user", policy, path.name, str(path.parent)):
                break
        inner = sorted(set(inner_folders), key=lambda each: (each.count("/"), each))
        for folder in (*self._folders, *(_join(self._working, each) for each in inner)):
            if not reading.add("project", self._project, _join(folder, AGENTS)):
                reading.add("project", self._project, _join(folder, CLAUDE))
            reading.add("project", self._project, _join(folder, LOCAL))
        return reading.result

    def list_inner_folders(self, path: str) -> list[str]:
        """Return the folders of a file beneath the working folder, with links followed.

        Args:
            path: The file, from the working folder.
        """
        try:
            found = self._project.resolve(_join(self._working, path))
        except (OSError, ValueError):
            return []
        inner = _make_relative(Path(found), Path(self._working)) if self._working else found
        parents = [each.as_posix() for each in PurePath(inner).parents]
        return [each for each in parents if each != "." and not each.startswith("..")]


class _Reading:
    """Reads one file after the other, each once, until there is no more room."""

    def __init__(self, max_bytes: int) -> None:
        self.result = Notes()
        self._room = max_bytes
        self._max_bytes = max_bytes
        self._seen = set[tuple[str, str]]()
        self._imports = 0

    def add(
        self, origin: Origin, policy: PathPolicy, path: str, folder: str = "", depth: int = 0
    ) -> bool:
        """Add a file and what it imports; whether there is one, read or not.

        Args:
            origin: Whose word it is.
            policy: Opens it.
            path: The file, from the root of the policy.
            folder: What is shown before the path.
            depth: How many files import it.
        """
        shown = TerminalText.line(f"{folder}/{path}" if folder else path, 300)
        try:
            place = policy.root, policy.resolve(path)
            if place in self._seen:
                return True
            found = read_written_text(policy, path, max(self._room, 0))
        except WrittenTextError as error:
            self._note_problem(f"`{shown}` is not read: {error}")
            return True
        except (FileNotFoundError, NotADirectoryError):
            return False
        except (OSError, ValueError) as error:
            self._note_problem(f"`{shown}` is not read: {describe_refusal(error)}")
            return True
        if found is None:
            return False
        self._seen.add(place)
        if found.is_cut:
            what = "is cut" if found.text else "is left out"
            limit = f"all notes together may have {self._max_bytes:,} bytes"
            self._note_problem(f"`{shown}` {what}: {limit}")
        self._room -= self._room if found.is_cut else len(found.text.encode("utf-8", "replace"))
        if found.text.strip():
            self.result.notes.append(Note(origin, shown, found.text))
            self._add_imports(origin, policy, path, folder, found.text, depth)
        return True

    def _add_imports(
        self, origin: Origin, policy: PathPolicy, path: str, folder: str, text: str, depth: int
    ) -> None:
        for each in list_imports(text):
            self._imports += 1
            if self._imports > _MAX_IMPORTS:
                if self._imports == _MAX_IMPORTS + 1:
                    self._note_problem(f"of the imports by `@` only {_MAX_IMPORTS} are looked at")
                return
            target = each if each.startswith("/") else _join(os.path.dirname(path), each)
            try:
                place = policy.resolve(os.path.expanduser(target if each[0] != "~" else each))
            except (FileNotFoundError, NotADirectoryError):
                continue  # a name or a package that begins with `@`
            except (OSError, ValueError) as error:
                why = "it leads out" if isinstance(error, PathDenied) else describe_refusal(error)
                self._note_problem(
                    f"`@{TerminalText.line(each, 100)}` of `{path}` is not read: {why}"
                )
                continue
            if os.path.isdir(os.path.join(policy.root, place)):
                continue
            if depth >= _MAX_DEPTH:
                if (policy.root, place) not in self._seen:
                    self._note_problem(f"`{place}` is not read: files import each other too deeply")
                continue
            self.add(origin, policy, place, folder, depth + 1)

    def _note_problem(self, problem: str) -> None:
        problems = self.result.problems
        if len(problems) == _MAX_PROBLEMS:
            problems[-1] = "more files of notes are not read"
        else:
            problems.append(TerminalText.line(problem, 500))


def _list_user_files(environment: Mapping[str, str]) -> Iterable[Path]:
    for folder, name in (
        (find_config_folder(environment), AGENTS),
        (find_claude_folder(), CLAUDE),
    ):
        if folder is not None:
            yield folder / name


def _make_relative(path: Path, folder: Path) -> str:
    relative = Path(os.path.relpath(path, folder)).as_posix()
    return "" if relative == "." else relative


def _join(folder: str, name: str) -> str:
    return os.path.normpath(f"{folder}/{name}") if folder else name
