"""The hunks of a text file, which a person can take or leave one by one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from amplifier_modules.changes.line_diff import Hunk, apply_hunks, find_hunks

MAX_HUNK_BYTES = 2**18
"""A version of a file that is larger is taken whole, or not at all."""
_MAX_HUNKS = 100
_MAX_CHARS = 60_000
"""Of all hunks of a question, as each is shown again where it is asked about alone."""


@dataclass(frozen=True)
class FileHunks:
    """A file of which some hunks can be taken: both versions are exactly those that were shown."""

    name: str
    """What the file is called in the question."""
    before: bytes
    after: bytes
    hunks: Sequence[Hunk]

    @property
    def names(self) -> list[str]:
        """The names of the hunks."""
        count = len(self.hunks)
        return [f"{self.name}, hunk {number} of {count}" for number in range(1, count + 1)]

    def describe(self) -> dict[str, str]:
        """Return each hunk by its name, as a person reads it."""
        return {name: hunk.text for name, hunk in zip(self.names, self.hunks, strict=True)}

    def list_left(self, agreed: Collection[str]) -> list[str]:
        """Return the hunks that nobody agreed to: the name of each, and where it is."""
        taken = self.list_taken(agreed)
        return [
            f"{name} ({text.partition(chr(10))[0]})"
            for name, text in self.describe().items()
            if name not in taken
        ]

    def list_taken(self, agreed: Collection[str]) -> list[str]:
        """Return the names of the hunks that are agreed to; the name of the file is for all."""
        return (
            self.names if self.name in agreed else [each for each in self.names if each in agreed]
        )

    def apply_taken(self, agreed: Collection[str]) -> bytes:
        """Return the file with the hunks that are agreed to."""
        taken = set(self.list_taken(agreed))
        pairs = zip(self.names, self.hunks, strict=True)
        return apply_hunks(self.before, [hunk for name, hunk in pairs if name in taken])


def find_file_hunks(name: str, before: bytes | None, after: bytes | None) -> FileHunks | None:
    """Return the hunks of a file; None where it is taken whole or not at all.

    That is so of one hunk, of many, and of what is no text.
    """
    if before is None or after is None or max(len(before), len(after)) > MAX_HUNK_BYTES:
        return None
    if b"\0" in before or b"\0" in after:
        return None
    hunks = find_hunks(before, after)
    return FileHunks(name, before, after, hunks) if 1 < len(hunks) <= _MAX_HUNKS else None


def limit_hunks(
    files: Iterable[FileHunks], names: Sequence[str], most: int
) -> dict[str, FileHunks]:
    """Return those of the files whose hunks a person can be asked about, by the names of the files.

    Args:
        files: Files with hunks.
        names: The other names in the question, which no hunk may have.
        most: The most names that a question has.
    """
    taken, chars = set(names), 0
    limited: dict[str, FileHunks] = {}
    for each in files:
        chars += sum(len(hunk.text) for hunk in each.hunks)
        is_new = taken.isdisjoint(each.names)
        if is_new and len(taken) + len(each.names) <= most and chars <= _MAX_CHARS:
            limited[each.name] = each
            taken.update(each.names)
    return limited


def add_hunk_names(names: Iterable[str], hunks: Mapping[str, FileHunks]) -> list[str]:
    """Return names of parts, each followed by those of its hunks."""
    return [
        name for part in names for name in (part, *(hunks[part].names if part in hunks else ()))
    ]


def describe_hunks(hunks: Mapping[str, FileHunks]) -> dict[str, Any]:
    """Return hunks as data for those who answer; empty for none."""
    return {"hunks": {name: each.describe() for name, each in hunks.items()}} if hunks else {}
