"""Rows of security inputs, read from their file with the macros expanded."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

EXPECTED = ("reject", "sanitize", "allow")
_NEEDED = ("id", "surface", "input", "expected")


class BadRow(ValueError):
    """A line that is no row."""


@dataclass(frozen=True)
class Row:
    """One input, the policy it goes to, and what has to come of it."""

    id: str
    surface: str
    input: Any
    expected: str
    why: str
    setup: dict[str, Any]


def read_rows(path: Path) -> list[Row]:
    """Return all rows of a file.

    Raises:
        BadRow: A line is no row, an id comes twice, or there is no row at all.
    """
    rows: dict[str, Row] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if not line.strip():
            continue
        row = _row(line, f"line {number} of `{path.name}`")
        if row.id in rows:
            raise BadRow(f"line {number} of `{path.name}`: the id `{row.id}` comes twice")
        rows[row.id] = row
    if not rows:
        raise BadRow(f"`{path.name}` has no rows")
    return list(rows.values())


def expand(value: Any) -> Any:
    """Return a value with its macros, at any depth, replaced by what they stand for.

    Raises:
        BadRow: A macro is not written as it should be.
    """
    if isinstance(value, list):
        return [expand(item) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Any]", value)
    if len(fields) == 1:
        ((name, argument),) = fields.items()
        try:
            if name == "$rep":
                text, times = expand(argument)
                return text * times
            if name == "$join":
                return _joined(expand(argument))
            if name == "$b64":
                return base64.b64decode(argument, validate=True)
        except (TypeError, ValueError) as error:
            raise BadRow(f"the macro `{name}` cannot be read: {error}") from error
    return {key: expand(item) for key, item in fields.items()}


def _row(line: str, place: str) -> Row:
    try:
        found = json.loads(line)
    except ValueError as error:
        raise BadRow(f"{place} is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise BadRow(f"{place} is not an object")
    fields = cast("dict[str, Any]", found)
    if missing := [key for key in _NEEDED if key not in fields]:
        raise BadRow(f"{place} has no `{missing[0]}`")
    if fields["expected"] not in EXPECTED:
        raise BadRow(f"{place}: `{fields['expected']}` is not one of {', '.join(EXPECTED)}")
    return Row(
        id=fields["id"],
        surface=fields["surface"],
        input=expand(fields["input"]),
        expected=fields["expected"],
        why=fields.get("why", ""),
        setup=expand(fields.get("setup") or {}),
    )


def _joined(parts: Iterable[Any]) -> str | bytes:
    parts = list(parts)
    if any(isinstance(part, bytes) for part in parts):
        return b"".join(part if isinstance(part, bytes) else part.encode() for part in parts)
    return "".join(parts)
