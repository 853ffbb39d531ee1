"""Reading a patch in the form `*** Begin Patch`, which models of OpenAI are trained on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .patch import FileChange, Hunk, PatchError
from .unified_diff import HUNK_HEAD, make_hunk

BEGIN = "*** Begin Patch"
"""The first line of such a patch."""
_END = "*** End Patch"
_END_OF_FILE = "*** End of File"
_ADD, _UPDATE, _DELETE = "*** Add File: ", "*** Update File: ", "*** Delete File: "
_MOVE = "*** Move to: "
_MARK = "*** "


def read_marked_patch(text: str) -> list[FileChange]:
    """Return the changes of a patch that begins with `*** Begin Patch`.

    Raises:
        PatchError: It does not have this form.
    """
    lines = text.strip().split("\n")
    if lines[-1].strip() != _END:
        raise PatchError(f"the patch does not end with `{_END}`")
    changes = list(_Reader(lines[:-1]).read_files())
    if not changes:
        raise PatchError(f"the patch names no file (with `{_UPDATE}`, `{_ADD}` or `{_DELETE}`)")
    return changes


class _Reader:
    """Goes through the lines of a patch once."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._next = 1

    def read_files(self) -> Iterator[FileChange]:
        while self._next < len(self._lines):
            line = self._lines[self._next]
            start = self._next = self._next + 1
            if line.startswith(_ADD):
                path = line.removeprefix(_ADD).strip()
                yield FileChange(None, path, tuple(self._read_new_file()), start)
            elif line.startswith(_DELETE):
                yield FileChange(line.removeprefix(_DELETE).strip(), None, (), start)
            elif line.startswith(_UPDATE):
                yield self._read_update(line.removeprefix(_UPDATE).strip(), start)
            elif line.strip():
                heads = f"`{_UPDATE}`, `{_ADD}` or `{_DELETE}`"
                raise _fail(start, line, f"must be {heads}, a line of a hunk, or `{_END}`")

    def _read_new_file(self) -> Iterator[Hunk]:
        start = self._next
        lines = self._take_lines()
        for number, line in enumerate(lines, start + 1):
            if not line.startswith("+"):
                raise _fail(number, line, "of a new file must begin with `+`")
        if lines:
            yield make_hunk(lines, start, None)

    def _read_update(self, path: str, start: int) -> FileChange:
        new_path = path
        if self._next < len(self._lines) and self._lines[self._next].startswith(_MOVE):
            new_path = self._lines[self._next].removeprefix(_MOVE).strip()
            self._next += 1
        hunks = tuple(self._read_hunks())
        if not hunks and new_path == path:
            line = self._lines[start - 1]
            raise _fail(start, line, "names a file of which nothing changes")
        return FileChange(path, new_path, hunks, start)

    def _read_hunks(self) -> Iterator[Hunk]:
        while self._next < len(self._lines):
            anchors: list[str] = []
            numbers = None
            begin = self._next
            while self._next < len(self._lines) and self._lines[self._next].startswith("@@"):
                line = self._lines[self._next]
                numbers = HUNK_HEAD.fullmatch(line)
                if numbers is None and line[2:].strip():
                    anchors.append(line[2:].strip())
                self._next += 1
            start = self._next
            lines = self._take_lines()
            if not lines and start == begin:
                return
            hunk = replace(make_hunk(lines, start, numbers), anchors=tuple(anchors))
            if self._next < len(self._lines) and self._lines[self._next].strip() == _END_OF_FILE:
                hunk = replace(hunk, at_end=True)
                self._next += 1
            yield hunk

    def _take_lines(self) -> list[str]:
        """Return the lines up to the next mark, without empty ones before it."""
        start = self._next
        while self._next < len(self._lines):
            if self._lines[self._next].startswith((_MARK, "@@")):
                break
            self._next += 1
        end = self._next
        while end > start and not self._lines[end - 1]:
            end -= 1
        return self._lines[start:end]


def _fail(number: int, line: str, problem: str) -> PatchError:
    return PatchError(f"line {number:,} of the patch {problem}: `{line[:80]}`")
