"""How many marks the redactor puts into ordinary text: installed packages, and this project.

Neither holds secrets, so each mark is false, or stands where an example or a test looks like one. What
counts is that there are not more of them than before a change; `--show` prints them with the text
around them.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from amplifier_guard import Redactor

PROJECT = Path(__file__).resolve().parents[1]
MAX_BYTES = 2_000_000
MARK = re.compile(r"\[REDACTED:([a-z0-9 ]+)\]")
SUFFIXES = frozenset(
    [
        ".c",
        ".cfg",
        ".css",
        ".csv",
        ".h",
        ".html",
        ".ini",
        ".js",
        ".json",
        ".md",
        ".pxd",
        ".py",
        ".pyi",
        ".pyx",
        ".rs",
        ".rst",
        ".sh",
        ".toml",
        ".ts",
        ".txt",
        ".typed",
        ".yaml",
        ".yml",
    ]
)
NAMES = frozenset(["LICENSE", "METADATA", "Makefile", "NOTICE", "RECORD", "WHEEL"])


def is_text(path: Path) -> bool:
    """Whether a file is one that people read."""
    return path.suffix in SUFFIXES or path.name in NAMES


def files_of_environment(interpreter: Path) -> Iterator[Path]:
    """The text files of the packages beside an interpreter."""
    for folder in sorted(interpreter.parent.parent.glob("lib/python*/site-packages")):
        yield from sorted(filter(is_text, folder.rglob("*")))


def files_of_project() -> Iterator[Path]:
    """The text files of this project that are under version control."""
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=PROJECT, check=True, capture_output=True, text=True
    ).stdout
    yield from filter(is_text, (PROJECT / name for name in names.split("\0") if name))


def count(what: str, paths: Iterable[Path], show: bool) -> None:
    """Print how many files are marked, and how often, each kind apart."""
    redactor = Redactor()
    files = marked = 0
    kinds: Counter[str] = Counter()
    for path in paths:
        try:
            text = path.read_bytes()[:MAX_BYTES].decode()
        except (OSError, UnicodeDecodeError):
            continue
        files += 1
        redacted = redactor.redact(text)
        if redacted is text:
            continue
        before = set(text.splitlines())
        lines = [line for line in redacted.splitlines() if line not in before]
        found = Counter(kind for line in lines for kind in MARK.findall(line))
        marked += bool(found)
        kinds += found
        if show:
            for line in lines:
                if match := MARK.search(line):
                    print(f"{path}: {line[max(0, match.start() - 60) : match.end() + 20]}")
    shown = ", ".join(f"{kind} {number}" for kind, number in kinds.most_common())
    print(f"{what:15}{files:6} files, {marked:4} marked, {kinds.total():5} marks: {shown}")


def main() -> None:
    """Count both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reference", type=Path, help="an interpreter with packages beside it")
    parser.add_argument("--show", action="store_true", help="print each line with a mark")
    arguments, _ = parser.parse_known_args()  # `--rounds` is for benches that measure time
    if arguments.reference is not None:
        count("packages", files_of_environment(arguments.reference), arguments.show)
    count("project", files_of_project(), arguments.show)


if __name__ == "__main__":
    main()
