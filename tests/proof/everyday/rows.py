"""The everyday commands, and how those that a sandbox changes are pinned.

A file of rows is of one kind. Its `needs`, `files`, `setup` and `varies` are of all its rows:

- `files`: what the project holds at the beginning, by path.
- `setup`: run in the project before the command, without a sandbox.
- `run`: the command.
- `exit`: its exit code, 0 without it; `prints`: a part of its output.
- `needs`, `modules`: programs and modules of Python that must be there.
- `varies`: patterns of paths whose content is not compared; what is beneath a pattern with `/**` at
  its end is not looked at.
- `varies_output`: a pattern of what is not compared in the output.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Row:
    """A command, what it is run on, and what it does."""

    name: str
    run: str
    files: dict[str, str]
    setup: str
    prints: str
    exit: int
    needs: tuple[str, ...]
    modules: tuple[str, ...]
    varies: tuple[str, ...]
    varies_output: str


class Difference(NamedTuple):
    """A command that behaves otherwise in a tier."""

    reason: str
    way_out: str
    """`ask` where a person is asked whether it may run without the sandbox."""


def read_rows() -> list[Row]:
    """Read the rows of all kinds."""
    rows: list[Row] = []
    for path in sorted(FOLDER.glob("*.toml")):
        kind = tomllib.loads(path.read_text())
        rows += (_make_row(kind, row) for row in kind["row"])
    return rows


def read_differences() -> dict[str, dict[str, Difference]]:
    """Read what is pinned: for each tier the names of its commands."""
    found: dict[str, dict[str, Difference]] = {}
    for tier, name, reason, way_out in _read_cells(FOLDER / "differences.txt"):
        of_tier = found.setdefault(tier, {})
        if name in of_tier:
            raise ValueError(f"`{name}` is pinned twice in the tier `{tier}`")
        of_tier[name] = Difference(reason, way_out)
    return found


def _read_cells(path: Path) -> Iterator[list[str]]:
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            yield [cell.strip() for cell in line.split("|")]


def _make_row(kind: dict[str, Any], row: dict[str, Any]) -> Row:
    def join(key: str) -> tuple[str, ...]:
        return (*kind.get(key, ()), *row.get(key, ()))

    unknown = row.keys() - Row.__annotations__.keys()
    if unknown:
        raise ValueError(f"`{row['name']}` has unknown keys: {sorted(unknown)}")
    return Row(
        name=row["name"],
        run=row["run"],
        files={**kind.get("files", {}), **row.get("files", {})},
        setup=f"{kind.get('setup', '')}\n{row.get('setup', '')}".strip(),
        prints=row.get("prints", ""),
        exit=row.get("exit", 0),
        needs=join("needs"),
        modules=join("modules"),
        varies=join("varies"),
        varies_output=row.get("varies_output", ""),
    )
