"""The promises of CONTRACTS.md, and the tests that hold them.

A promise is a row with an id of the section "Promises". A test names the ids that it holds in a
line above itself, `# Holds: stream-3, tags-1`, in Rust `// Holds: …`; such a line in the docstring
of a file speaks for all its tests. Run as a program it writes the last column of the rows:
`python tests/contract/promises.py [CHECKOUT]`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]

MAX_ROW = 300
"""Characters of one row."""

SOURCES = ("tests/**/*.py", "crates/*/tests/**/*.rs", "crates/*/src/**/*.rs")
"""Where tests are."""

_CELL = re.compile(r"(?<!\\)\|")
_ID = re.compile(r"[a-z]+-[0-9]+")
_HOLDS = re.compile(r"^(?P<mark>\s*(?:#|//!?)?) ?Holds: (?P<ids>.+)$")
_BEFORE_A_TEST = re.compile(
    r"""\s*(?:@|(?:async\ )?def\ test_|class\ Test|\#\[|fn\ |"\w+":\ Fault\()""", re.VERBOSE
)


@dataclass(frozen=True)
class Mention:
    """A line in which a test names a promise."""

    promise: str
    file: str
    """Below `tests`, or the path in the checkout for a test of a crate."""
    line: int
    is_at_a_test: bool
    """Whether a test follows, or the line speaks for a whole file."""


def read_rows(document: str) -> dict[str, list[str]]:
    """The cells of each promise by its id; an id that is used twice is a `ValueError`."""
    rows: dict[str, list[str]] = {}
    for line in _promises(document).splitlines():
        cells = _cells(line)
        if cells and _ID.fullmatch(cells[0]):
            if cells[0] in rows:
                raise ValueError(f"two promises have the id `{cells[0]}`; take a new number")
            rows[cells[0]] = cells[1:]
    return rows


def find_mentions(checkout: Path) -> list[Mention]:
    """Every line in which a test of a checkout names a promise."""
    files = chain.from_iterable(sorted(checkout.glob(pattern)) for pattern in SOURCES)
    return [mention for file in files for mention in _mentions(checkout, file)]


def write_holders(document: str, mentions: list[Mention]) -> str:
    """The document with the files that hold each promise in the last column of its row."""
    holders: dict[str, set[str]] = {}
    for mention in mentions:
        holders.setdefault(mention.promise, set()).add(mention.file)
    lines = []
    for line in document.splitlines():
        cells = _cells(line)
        if cells and _ID.fullmatch(cells[0]):
            cells[-1] = ", ".join(f"`{file}`" for file in sorted(holders.get(cells[0], ())))
            line = f"| {' | '.join(cells)} |"
        lines.append(line)
    return "\n".join(lines) + "\n"


def find_long_rows(document: str) -> list[str]:
    """The rows of any table that are longer than a row may be."""
    rows = (line for line in document.splitlines() if line.startswith("|"))
    return [row for row in rows if len(row) > MAX_ROW]


def _promises(document: str) -> str:
    return f"\n{document}".partition("\n## Promises\n")[2].partition("\n## ")[0]


def _cells(line: str) -> list[str]:
    if not line.startswith("|"):
        return []
    return [cell.strip() for cell in _CELL.split(line)[1:-1]]


def _mentions(checkout: Path, file: Path) -> Iterator[Mention]:
    lines = file.read_text().splitlines()
    name = file.relative_to(checkout).as_posix().removeprefix("tests/")
    for number, line in enumerate(lines, 1):
        found = _HOLDS.match(line)
        if found is None:
            continue
        # A line without a mark, or with that of an inner doc comment, is of the file's docstring.
        is_of_file = found["mark"].strip() in ("", "//!")
        is_at_a_test = is_of_file or _BEFORE_A_TEST.match("".join(lines[number : number + 1]))
        for promise in found["ids"].split(", "):
            yield Mention(promise, name, number, bool(is_at_a_test))


def write_document(checkout: Path) -> None:
    """Write the last column of the promises of a checkout anew."""
    path = checkout / "CONTRACTS.md"
    path.write_text(write_holders(path.read_text(), find_mentions(checkout)))


if __name__ == "__main__":
    write_document(Path(sys.argv[1]).resolve() if sys.argv[1:] else CHECKOUT)
