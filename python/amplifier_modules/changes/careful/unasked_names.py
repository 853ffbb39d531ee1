"""Names that other programs run or trust unasked, and those of what installs write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path


def find_reader(names: Sequence[str]) -> str | None:
    """Return why a person must agree to a change of a file; None if no row is for it.

    As in the guard, the outermost folder that has a row decides.

    Args:
        names: Of its path, folded.
    """
    return next(_find_reasons(names), None) or None


def is_installed(names: Sequence[str]) -> bool:
    """Whether a file is in a folder of packages or a cache; its names are folded."""
    return next(_find_reasons(names), None) == ""


def _find_reasons(names: Sequence[str]) -> Iterator[str]:
    """Yield the headings of the rows that are for a path, from its first name on."""
    first, any_first = _read_rows()
    for start, name in enumerate(names):
        count = len(names) - start
        for wanted, is_folder, reason in (*first.get(name, ()), *any_first):
            has_count = count == len(wanted) or (is_folder and count > len(wanted))
            if has_count and all(map(_match_name, wanted, names[start : start + len(wanted)])):
                yield reason


_Row = tuple[list[str], bool, str]
"""Names, whether more may follow, and the heading."""


@cache
def _read_rows() -> tuple[dict[str, list[_Row]], list[_Row]]:
    """Return the rows by their first names, and those with a `*` in it."""
    first: dict[str, list[_Row]] = {}
    any_first: list[_Row] = []
    reason = ""
    for line in Path(__file__).with_name("unasked.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            reason = line.strip("[]")
        elif line and not line.startswith("#"):
            names = line.rstrip("/").split("/")
            rows = any_first if "*" in names[0] else first.setdefault(names[0], [])
            rows.append((names, line.endswith("/"), reason))
    return first, any_first


def _match_name(wanted: str, name: str) -> bool:
    head, star, tail = wanted.partition("*")
    if not star:
        return wanted == name
    return len(name) >= len(head) + len(tail) and name.startswith(head) and name.endswith(tail)
