"""The structure of the checkout: rooms of Python and of Rust, and the arrows of Rust.

A room is a folder with source files. An arrow leads from a file of a crate to one that it uses;
those of Python are import-linter's, whose rules are in `pyproject.toml`. Run as a program it prints
the figures: `python tests/contract/structure.py [CHECKOUT]`.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from structure_rust import rust_arrows

CHECKOUT = Path(__file__).resolve().parents[2]

ROOT_OF_NAMES = "python/amplifier_core"
"""The folder whose files are no family: their names are contract, or what other packages need."""

MAX_FILES = 30
"""Files of one folder."""


LINTED = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["importlinter"]
"""The rules of import-linter."""

PACKAGES = set(LINTED["root_packages"])
"""The packages of Python."""


@dataclass
class House:
    """The source files of a checkout, and what uses what."""

    files: dict[str, int] = field(default_factory=dict[str, int])
    """Lines of each file, by its path in the checkout."""
    arrows: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """User and used, files of a crate both."""

    def rooms(self) -> dict[str, list[str]]:
        """The files of each folder."""
        found: dict[str, list[str]] = {}
        for file in sorted(self.files):
            found.setdefault(file.rpartition("/")[0], []).append(file)
        return found

    def circles(self) -> list[list[str]]:
        """Files of a crate that use each other in a ring."""
        return circles_of(self.arrows)

    def crowded(self) -> dict[str, int]:
        """Folders with more files than one can know."""
        return {
            room: len(files)
            for room, files in self.rooms().items()
            if len(files) > MAX_FILES and room != ROOT_OF_NAMES
        }


def read_house(checkout: Path) -> House:
    """Read the packages and the crates of a checkout."""
    house = House()
    for path in (*checkout.glob("python/**/*.py"), *checkout.glob("crates/*/src/**/*.rs")):
        name = path.relative_to(checkout).as_posix()
        house.files[name] = len(path.read_text().splitlines())
    house.arrows = rust_arrows(checkout / "crates")
    return house


def circles_of(arrows: Iterable[tuple[str, str]]) -> list[list[str]]:
    """The strongly connected parts of a graph that have more than one member, each sorted."""
    out: dict[str, list[str]] = {}
    for user, used in arrows:
        out.setdefault(user, []).append(used)
        out.setdefault(used, [])
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []
    for root in sorted(out):
        if root in number:
            continue
        work = [(root, iter(out[root]))]
        number[root] = lowest[root] = len(number)
        stack.append(root)
        while work:
            node, rest = work[-1]
            for other in rest:
                if other not in number:
                    number[other] = lowest[other] = len(number)
                    stack.append(other)
                    work.append((other, iter(out[other])))
                    break
                if other in stack:
                    lowest[node] = min(lowest[node], number[other])
            else:
                work.pop()
                if work:
                    above = work[-1][0]
                    lowest[above] = min(lowest[above], lowest[node])
                if lowest[node] == number[node]:
                    part = stack[stack.index(node) :]
                    del stack[stack.index(node) :]
                    if len(part) > 1:
                        found.append(sorted(part))
    return sorted(found)


def describe_rooms(checkout: Path) -> dict[str, str]:
    """The first line of what each room says of itself; empty where it says nothing."""
    return {room: _description(checkout / room) for room in read_house(checkout).rooms()}


def _description(room: Path) -> str:
    python = room / "__init__.py"
    if python.exists():
        text = ast.get_docstring(ast.parse(python.read_text())) or ""
        return text.partition("\n")[0]
    manifest = room.parent / "Cargo.toml"
    if manifest.exists():
        return str(tomllib.loads(manifest.read_text())["package"].get("description", ""))
    rust = room.with_suffix(".rs")
    lines = rust.read_text().splitlines() if rust.exists() else []
    return next((line.removeprefix("//! ") for line in lines if line.startswith("//! ")), "")


def report(checkout: Path) -> str:
    """The figures of a checkout, a line a room."""
    house = read_house(checkout)
    lines = ["files  median lines  room"]
    descriptions = describe_rooms(checkout)
    for room, files in house.rooms().items():
        middle = round(median(house.files[file] for file in files))
        lines.append(f"{len(files):5}  {middle:12}  {room}  {descriptions[room]}".rstrip())
    total = sum(house.files.values())
    circles = house.circles()
    lines += [
        "",
        f"{len(house.files)} files, {total} lines, {len(house.arrows)} arrows of Rust",
        f"{len(circles)} circles of files of Rust",
        *(f"  {', '.join(circle)}" for circle in circles),
        f"{len(house.crowded())} folders with more than {MAX_FILES} files",
        *(f"  {room}: {count}" for room, count in house.crowded().items()),
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(report(Path(sys.argv[1]).resolve() if sys.argv[1:] else CHECKOUT))
