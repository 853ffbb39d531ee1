"""Reading a patch in the form of `git diff` and `diff -u`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from .patch import FileChange, Hunk, PatchError, read_marked
from .patch_paths import NO_FILE, read_header_paths, read_path, strip_prefixes

HUNK_HEAD = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@.*")
"""The line before a hunk: where it is, and how many lines it has."""
_HEAD_WITHOUT_NUMBERS = re.compile(r"@@[\s.]*(@@)?")
_NO_NEWLINE = "\\"
_HEADERS = re.compile(
    r"(index|similarity index|dissimilarity index|deleted file mode|rename from|rename to) "
    r"|new file mode 100644$"
)
_REFUSED = {
    "old mode ": "changes the mode of a file (only contents and names are changed)",
    "new mode ": "changes the mode of a file (only contents and names are changed)",
    "new file mode ": "makes a file with another mode than 100644 (only such files are made)",
    "copy from ": "copies a file (add it as a new one)",
    "Binary files ": "changes a binary file",
    "GIT binary patch": "changes a binary file",
}


def read_unified_diff(text: str) -> list[FileChange]:
    """Return the changes of a unified diff.

    What is before the first file, such as the message of a commit, is passed over. Where the numbers
    in the head of a hunk are wrong or missing, its lines go on to the next head.

    Raises:
        PatchError: It is no unified diff, or has what cannot be done here.
    """
    changes = list(_Reader(text.removesuffix("\n").split("\n")).read_files())
    if not changes:
        raise PatchError(
            "the patch names no file (it must be a unified diff, as `git diff` prints it, or begin"
            " with `*** Begin Patch`)"
        )
    return changes


class _Reader:
    """Goes through the lines of a diff once."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._next = 0

    def read_files(self) -> Iterator[FileChange]:
        is_between = True
        while self._next < len(self._lines):
            line = self._lines[self._next]
            if line.startswith("diff --git ") or self._is_pair(self._next):
                yield self._read_file()
                is_between = False
            elif line.startswith("@@"):
                raise self._fail("is a hunk of no file")
            elif self._is_signature(self._next) or line.startswith(("diff ", "Index: ")):
                is_between = True
                self._next += 1
            elif is_between or not line.strip():
                self._next += 1
            else:
                raise self._fail("belongs to no hunk")

    def _read_file(self) -> FileChange:
        start = self._next
        old: str | None = None
        new: str | None = None
        is_renamed = False
        if not self._is_pair(start):
            old, new = read_header_paths(self._lines[start].removeprefix("diff --git "))
            self._next += 1
            headers = self._read_headers()
            is_renamed = "rename from" in headers and "rename to" in headers
            if is_renamed:
                old, new = read_path(headers["rename from"]), read_path(headers["rename to"])
            old = None if "new file mode" in headers else old
            new = None if "deleted file mode" in headers else new
        if self._is_pair(self._next):
            pair = [read_path(line[4:]) for line in self._lines[self._next : self._next + 2]]
            self._next += 2
            if not is_renamed:
                old, new = strip_prefixes(pair[0], pair[1], (old, new))
        old, new = (None if path == NO_FILE else path for path in (old, new))
        change = FileChange(old, new, tuple(self._read_hunks()), start + 1)
        if not change.paths:
            raise self._fail("names no file", start)
        if len(change.paths) == 2 and not is_renamed:
            raise self._fail("names two files (a rename has `rename from` and `rename to`)", start)
        if not change.hunks and old == new:
            raise self._fail("names a file of which nothing changes", start)
        return change

    def _read_headers(self) -> dict[str, str]:
        """Return what git says of a file before its hunks."""
        headers: dict[str, str] = {}
        while self._next < len(self._lines):
            line = self._lines[self._next]
            found = _HEADERS.match(line)
            if found is None:
                refused = next((_REFUSED[head] for head in _REFUSED if line.startswith(head)), None)
                if refused is not None:
                    raise self._fail(refused)
                break
            kind = found[1] or "new file mode"
            headers[kind] = line.removeprefix(f"{kind} ")
            self._next += 1
        return headers

    def _read_hunks(self) -> Iterator[Hunk]:
        while self._next < len(self._lines) and self._lines[self._next].startswith("@@"):
            head = self._lines[self._next]
            found = HUNK_HEAD.fullmatch(head)
            if found is None and not _HEAD_WITHOUT_NUMBERS.fullmatch(head):
                raise self._fail("is not the head of a hunk, such as `@@ -1,3 +1,4 @@`")
            start = self._next + 1
            self._next = self._find_end(start, found)
            yield make_hunk(self._lines[start : self._next], start, found)

    def _find_end(self, start: int, head: re.Match[str] | None) -> int:
        """Return where the lines of a hunk end: where its head says, or else where they must."""
        if head is not None:
            end = self._count_lines(start, int(head[2] or 1), int(head[4] or 1))
            if end is not None and not self._goes_on(end):
                return end
        end = place = start
        while place < len(self._lines) and self._is_in_hunk(place):
            place += 1
            # An empty line belongs to it if what follows does.
            end = place if self._lines[place - 1].strip() else end
        return end

    def _count_lines(self, start: int, old: int, new: int) -> int | None:
        """Return where so many lines end; None if there are not."""
        place = start
        while old > 0 or new > 0:
            mark = (self._lines[place][:1] or " ") if place < len(self._lines) else "@"
            if mark not in " +-\\":
                return None
            old -= mark in " -"
            new -= mark in " +"
            place += 1
        if old < 0 or new < 0:
            return None
        is_open = place < len(self._lines) and self._lines[place].startswith(_NO_NEWLINE)
        return place + is_open

    def _goes_on(self, place: int) -> bool:
        """Whether a hunk looks as if it went on at a line."""
        while place < len(self._lines) and not self._lines[place].strip():
            place += 1
        return place < len(self._lines) and self._is_in_hunk(place)

    def _is_in_hunk(self, place: int) -> bool:
        line = self._lines[place]
        if self._is_pair(place) or self._is_signature(place):
            return False
        return not line or line[0] in " +-\\"

    def _is_pair(self, place: int) -> bool:
        """Whether two lines name a file, as it was and as it is to be."""
        pair = self._lines[place : place + 2]
        return len(pair) == 2 and pair[0].startswith("--- ") and pair[1].startswith("+++ ")

    def _is_signature(self, place: int) -> bool:
        """Whether `git format-patch` ends a mail here, by its version."""
        following = self._lines[place + 1 : place + 2]
        is_version = bool(following) and re.fullmatch(r"\d+\.\d[\w.]*", following[0].rstrip())
        return self._lines[place].rstrip() == "--" and bool(is_version)

    def _fail(self, problem: str, place: int | None = None) -> PatchError:
        place = self._next if place is None else place
        return PatchError(f"line {place + 1:,} of the patch {problem}: `{self._lines[place][:80]}`")


def make_hunk(lines: list[str], place: int, head: re.Match[str] | None) -> Hunk:
    """Return a hunk.

    Args:
        lines: Its lines as they are in the patch.
        place: The line of the patch before them, which is its head.
        head: What the head says, if it has numbers.

    Raises:
        PatchError: A line has no mark, or none changes.
    """
    old_ends_open = new_ends_open = False
    before = " "
    for line in lines:
        if line.startswith(_NO_NEWLINE):
            old_ends_open = old_ends_open or before != "+"
            new_ends_open = new_ends_open or before != "-"
        before = line[:1] or " "
    marked = [line for line in lines if not line.startswith(_NO_NEWLINE)]
    return replace(
        Hunk(read_marked(marked, place), place),
        first_line=None if head is None else int(head[1]) + (head[2] == "0"),
        old_ends_open=old_ends_open,
        new_ends_open=new_ends_open,
    )
