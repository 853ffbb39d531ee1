"""The programs of the guide, of `coming-from.md` and of the pages of `arcllm`: each block of Python in a page is one, complete.

`python docs/programs.py FOLDER` writes each into a file of its own, for type checkers.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parent
ARCLLM = "arcllm"
"""The folder of the pages whose programs ask a service; the names of these programs begin with it."""
_BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)

_FILE = re.compile(r"# file: (\S+)\n")


@dataclass(frozen=True)
class Program:
    """A program of a page, and what the page says that it prints."""

    name: str
    source: str
    prints: str | None
    file: str | None
    """What it is saved as, for the programs after it; it is not run by itself."""

    @property
    def page(self) -> str:
        """The page that it stands on."""
        return self.name.rpartition("_")[0].replace("_", "-")


def programs() -> Iterator[Program]:
    """Yield the programs of all pages, in their order."""
    pages = [*sorted(DOCS.glob("guide/*.md")), DOCS / "coming-from.md"]
    for page in [*pages, *sorted(DOCS.glob("arcllm/*.md"))]:
        for number, found in enumerate(_BLOCK.finditer(page.read_text()), 1):
            room = f"{ARCLLM}_" if page.parent.name == ARCLLM else ""
            name = f"{room}{page.stem}_{number}".replace("-", "_")
            file = _FILE.match(found[1])
            yield Program(name, found[1], found[2], file and file[1])


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.py"):
        old.unlink()
    for program in programs():
        (folder / (program.file or f"{program.name}.py")).write_text(program.source)
