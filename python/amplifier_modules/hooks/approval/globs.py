"""Globs over paths as in `.gitignore`: what they match, they match with everything beneath."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_ANY = "**"
_NOT_UNDERSTOOD = re.compile(r"^!|[\\{}\n\0]|(?<=[^/])\*\*|\*\*(?=[^/])")


@dataclass(frozen=True)
class PathGlob:
    """A glob, counted from the root of the file system."""

    parts: tuple[str, ...]

    @classmethod
    def read(cls, written: str, project: Path) -> PathGlob:
        """Read a glob: `//` is the root of the file system, `~/` the home, the rest the project.

        Without a slash before its end, it is a name at any depth of the project.

        Args:
            written: The glob.
            project: An absolute path.

        Raises:
            ValueError: It is none, or has another syntax.
        """
        if not written or _NOT_UNDERSTOOD.search(written) or _has_open_set(written):
            raise ValueError(f"`{written}` is no glob of the supported form")
        if written.startswith("//"):
            return cls(_split(written))
        if written.startswith("~/"):
            return cls((*Path.home().parts[1:], *_split(written[2:])))
        base = project.parts[1:]
        is_anchored = "/" in written.rstrip("/")
        parts = _split(written.removeprefix("./"))
        # Names of folders are no globs.
        escaped = tuple(escape_glob(each) for each in base)
        return cls((*escaped, *(() if is_anchored else (_ANY,)), *parts))

    def is_match(self, path: str, *, ignores_case: bool = False) -> bool:
        """Whether an absolute path, or a folder that it is in, is meant."""
        places = self._add_skipped({0})
        for name in path.strip("/").split("/"):
            if len(self.parts) in places:
                return True
            places = self._add_skipped(
                {
                    place if self.parts[place] == _ANY else place + 1
                    for place in places
                    if self.parts[place] == _ANY
                    or _is_like(name, self.parts[place], ignores_case=ignores_case)
                }
            )
        return len(self.parts) in places

    def _add_skipped(self, places: set[int]) -> set[int]:
        """Add the places behind each `**`, which may stand for nothing."""
        found = set(places)
        for place in places:
            while place < len(self.parts) and self.parts[place] == _ANY:
                place += 1
                found.add(place)
        return found


def escape_glob(name: str) -> str:
    """Return a glob that means exactly this name."""
    return re.sub(r"([*?[])", r"[\1]", name)


def _split(written: str) -> tuple[str, ...]:
    parts = [each for each in written.split("/") if each not in ("", ".")]
    if ".." in parts:
        raise ValueError(f"`{written}` leads upwards")
    while parts and parts[-1] == _ANY:
        parts.pop()
    return tuple(parts)


def _is_like(name: str, part: str, *, ignores_case: bool) -> bool:
    if ignores_case:
        name, part = name.casefold(), part.casefold()
    return fnmatch.fnmatchcase(name, part)


def _has_open_set(written: str) -> bool:
    """Whether a `[` is never closed: such a glob means itself, which nobody wants to say."""
    closed: Sequence[str] = re.sub(r"\[!?\]?[^\]]*\]", "", written)
    return "[" in closed
