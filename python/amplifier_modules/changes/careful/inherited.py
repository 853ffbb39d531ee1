"""What holds for all that is beneath a folder, remembered by folders."""

from __future__ import annotations

from collections.abc import Callable, Iterator


def list_parents(path: str) -> Iterator[str]:
    """Yield the folders that a path is in, the nearest first, without the project."""
    while path := path.rpartition("/")[0]:
        yield path


class Inherited:
    """Finds the outermost folder above a path of which something holds.

    Each folder is asked about once: long chains of folders have as many long paths.
    """

    def __init__(self, holds: Callable[[str], bool]) -> None:
        """Describe it.

        Args:
            holds: Whether it holds of a folder; the project is an empty path.
        """
        self._holds = holds
        self._known: dict[str, str | None] = {}

    def find(self, folder: str) -> str | None:
        """Return the outermost one of a folder and those above it; None if it holds of none."""
        climbed: list[str] = []
        while folder not in self._known:
            climbed.append(folder)
            if not folder:
                break
            folder = folder.rpartition("/")[0]
        found = self._known.get(folder)
        for each in reversed(climbed):
            if found is None and self._holds(each):
                found = each
            self._known[each] = found
        return found
