"""Lists what lies in a folder that a user or a project may fill, a limited number of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from amplifier_guard import PathPolicy, TerminalText

from .frontmatter import FrontmatterError
from .places import Origin
from .written_text import WrittenText, WrittenTextError, describe_refusal, read_written_text

MAX_ENTRIES = 64
"""The most entries of one folder that are looked at."""
_MAX_BYTES = 64 * 1024
_MAX_PROBLEMS = 20
_MAX_PROBLEM_CHARS = 400


class Problems(list[str]):
    """What is not offered, and why: a line each, up to a number of them."""

    def note(self, problem: str, error: Exception | None = None) -> None:
        """Add a line.

        Args:
            problem: What is not offered.
            error: Why.
        """
        if len(self) == _MAX_PROBLEMS:
            self[-1] = "and more than these"
            return
        if error is not None:
            problem = f"{problem}: {_describe(error)}"
        self.append(TerminalText.line(problem, _MAX_PROBLEM_CHARS))


class Shelf:
    """A folder with something in it for models, and whose word that is.

    What is of a project is opened beneath the root of that; the folders of a user may have links
    that lead anywhere.
    """

    def __init__(self, origin: Origin, policy: PathPolicy, path: str, shown: str) -> None:
        """Describe a folder.

        Args:
            origin: Whose it is.
            policy: Opens what is in it.
            path: The folder, from the root of the policy.
            shown: The folder, as a person reads it.
        """
        self.origin: Origin = origin
        self.policy = policy
        self.path = path
        self.shown = shown

    @property
    def place(self) -> str:
        """The folder with links followed; a project in the home of its user has the user's folders.

        Raises:
            OSError: It is not there, or leads out.
        """
        return os.path.join(self.policy.root, self.policy.resolve(self.path))

    def list_names(self) -> tuple[list[str], int]:
        """Return the names of the first entries, and how many are left out; none without a folder.

        Raises:
            OSError: The folder cannot be read, or leads out.
        """
        try:
            entries, total = self.policy.first_entries(
                self.path, limit=MAX_ENTRIES, max_bytes=_MAX_BYTES
            )
        except (FileNotFoundError, NotADirectoryError):
            return [], 0
        return [name for name, _, _ in entries], total - len(entries)

    def read_text(self, name: str, max_bytes: int) -> WrittenText | None:
        """Return the beginning of a file in this folder; None if there is none.

        Raises:
            OSError: It leads out of the project, or cannot be opened.
            WrittenTextError: It must not or cannot be read, or is no text.
        """
        inner = os.path.join(self.path, name)
        if self.origin == "project":
            return read_written_text(self.policy, inner, max_bytes)
        path = Path(self.policy.root, inner).resolve()
        return read_written_text(PathPolicy(path.parent), path.name, max_bytes)

    def open_folder(self, name: str) -> PathPolicy:
        """Return a policy whose root is a folder in this one.

        Raises:
            OSError: It is no folder, or leads out.
        """
        inner = os.path.join(self.path, name)
        if self.origin == "user":
            return PathPolicy(os.path.join(self.policy.root, inner))
        opened = PathPolicy(os.path.join(self.policy.root, self.policy.resolve(inner)))
        # Somebody may have put a link in its place since it was judged.
        if not Path(opened.root).is_relative_to(self.policy.root):
            raise PermissionError("it leads out")
        return opened


def list_shelves(
    user_folders: list[Path | None], project_folders: list[Path], names: tuple[str, ...]
) -> list[Shelf]:
    """Return the folders of a user, then those of a project, the inner ones first.

    Args:
        user_folders: The folders of the user; None for one that the user has not.
        project_folders: The root of the project, and the folders down to the working folder.
        names: The paths of the folders from each of those.
    """
    shelves: list[Shelf] = []
    for folder in user_folders:
        if folder is None:
            continue
        try:
            policy = PathPolicy(folder)
        except OSError:
            continue  # there is none
        shelves.append(Shelf("user", policy, ".", str(folder)))
    project = PathPolicy(project_folders[0])
    for each in reversed(project_folders):
        for name in names:
            path = Path(os.path.relpath(each / name, project_folders[0])).as_posix()
            shelves.append(Shelf("project", project, path, path))
    return shelves


def list_entries(
    shelves: Iterable[Shelf], what: str, problems: Problems
) -> Iterator[tuple[Shelf, str]]:
    """Yield the entries of all folders, each folder once.

    Args:
        shelves: The folders.
        what: What they hold, for the lines about what cannot be read.
        problems: Gets these lines.
    """
    seen = set[str]()
    for shelf in shelves:
        try:
            if shelf.place in seen:
                continue
            seen.add(shelf.place)
            names, left_out = shelf.list_names()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError) as error:
            problems.note(f"the {what} in `{shelf.shown}` are not read", error)
            continue
        if left_out:
            problems.note(f"`{shelf.shown}` has {left_out:,} more entries, not looked at")
        for name in names:
            yield shelf, name


def _describe(error: Exception) -> str:
    if isinstance(error, WrittenTextError | FrontmatterError):
        return str(error)
    return describe_refusal(error)
