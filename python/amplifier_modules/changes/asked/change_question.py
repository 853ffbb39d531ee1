"""The question whether changes get into the project, with what would change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from amplifier_modules.changes.careful.plain_file import read_beginning
from amplifier_modules.changes.change import ChangedPath
from amplifier_modules.changes.line_diff import find_hunks
from amplifier_modules.changes.shown_path import show_path

from .file_hunks import FileHunks, add_hunk_names, describe_hunks
from .parts import OF_GIT, Part

_MAX_BYTES = 2**18
"""A version of a file that is larger is named, not shown."""
_MAX_LINES_OF_FILE = 200
_MAX_LINES = 400
"""Lines of differences in one question."""
_MAX_LINE_CHARS = 1000
_MAX_CHARS = 15_000
_MAX_FILES = 20
"""Files of one part that are shown."""
_MAX_PARTS = 100
"""Parts that are listed; a person cannot agree to more of them alone."""


class ChangeQuestion:
    """What a person reads, and programs that answer, too."""

    def __init__(
        self,
        parts: Sequence[Part],
        paths: Mapping[str, ChangedPath],
        hunks: Mapping[str, FileHunks],
    ) -> None:
        """Ask about parts of all that has changed.

        Args:
            parts: What can be agreed to alone.
            paths: All that has changed.
            hunks: The files whose hunks can be agreed to alone, by the names of their parts.
        """
        self._parts = parts
        self._paths = paths
        self._hunks: Mapping[str, FileHunks] = hunks if len(parts) <= _MAX_PARTS else {}

    @property
    def names(self) -> list[str]:
        """Names of what can be agreed to alone; none where it is all or nothing."""
        is_choice = 1 < len(self._parts) <= _MAX_PARTS or bool(self._hunks)
        return add_hunk_names((part.name for part in self._parts), self._hunks) if is_choice else []

    def write(self) -> str:
        """Return the question as text; blocks, as it reads files."""
        rows = ["put these changes into the project?"]
        room = _MAX_CHARS - len(rows[0])
        left = _MAX_LINES
        for part in self._parts[:_MAX_PARTS]:
            lines = [self._describe(part)]
            shown = list(self._list_lines(part))[: left + 1]
            lines += shown[:left]
            left -= len(shown[:left])
            text = "\n".join(lines)
            if len(text) > room:
                text = lines[0][:room]
            rows.append(text)
            room = max(0, room - len(text))
        if left <= 0:
            rows.append("| … more differences than are shown here")
        if (more := len(self._parts) - _MAX_PARTS) > 0:
            rows.append(f"| and {more:,} more")
        return "\n".join(rows)

    def describe(self) -> dict[str, Any]:
        """Return the same as data."""
        return {
            "changes": [
                {
                    "path": part.name,
                    "kind": self._find_kind(part),
                    "paths": len(part.paths),
                    **({"reason": part.reason} if part.reason else {}),
                }
                for part in self._parts[:_MAX_PARTS]
            ],
            **describe_hunks(self._hunks),
        }

    def _describe(self, part: Part) -> str:
        count = f", {len(part.paths):,} paths" if len(part.paths) > 1 else ""
        reason = f": {part.reason}" if part.reason else ""
        return f"| {self._find_kind(part)} `{show_path(part.name)}`{count}{reason}"

    def _find_kind(self, part: Part) -> str:
        found = self._paths.get(part.name) or self._paths.get(part.paths[0])
        return "changed" if found is None or part.name not in self._paths else found.kind

    def _list_lines(self, part: Part) -> Iterator[str]:
        if part.paths == (part.name,):
            hunks = self._hunks.get(part.name)
            yield from (f"|   {line}" for line in list_difference(self._paths[part.name], hunks))
            return
        if part.name == OF_GIT:
            return  # what git keeps there is for nobody to read
        files = [path for path in part.paths if self._paths[path].type != "folder"]
        for path in files[:_MAX_FILES]:
            found = self._paths[path]
            yield f"|   {found.kind} `{show_path(path)}`"
            yield from (f"|     {line}" for line in list_difference(found, None))
        if (more := len(files) - _MAX_FILES) > 0:
            yield f"|   and {more:,} more"


def list_difference(path: ChangedPath, hunks: FileHunks | None) -> Iterator[str]:
    """Yield the lines of a file that go and come, as a unified diff without its head."""
    if path.type != "file":
        return
    if hunks is not None:
        text = "".join(each.text for each in hunks.hunks)
    else:
        try:
            text = "".join(
                each.text
                for each in find_hunks(_read(path.before) or b"", _read(path.after) or b"")
            )
        except (OSError, ValueError) as error:
            yield f"({error})"
            return
    # No other character than this one ends a line of a diff, whatever a file holds.
    lines = text.removesuffix("\n").split("\n") if text else []
    yield from (clip_line(line, _MAX_LINE_CHARS) for line in lines[:_MAX_LINES_OF_FILE])
    if (more := len(lines) - _MAX_LINES_OF_FILE) > 0:
        yield f"… {more:,} more lines"


def clip_line(line: str, most: int) -> str:
    """Return a line, and of a long one the beginning and how much is left."""
    more = len(line) - most
    return line if more <= 0 else f"{line[:most]} … {more:,} more characters"


def _read(path: str | None) -> bytes | None:
    if path is None:
        return None
    content = read_beginning(path, _MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise ValueError("too large to be shown")
    if b"\0" in content:
        raise ValueError("no text")
    return content
