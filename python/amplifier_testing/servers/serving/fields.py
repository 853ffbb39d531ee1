"""Which fields an object may have and of which types, as the official SDK of a dialect knows them."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

Path = tuple[str | int, ...]
"""Where a value is in the body of a request."""


@dataclass(frozen=True)
class Fields:
    """The fields of an object by their JSON types, `|` between alternatives."""

    required: Mapping[str, str] = field(default_factory=dict[str, str])
    optional: Mapping[str, str] = field(default_factory=dict[str, str])

    def extend(
        self, required: Mapping[str, str] | None = None, optional: Mapping[str, str] | None = None
    ) -> Fields:
        """Return these fields with others, or with others in the place of some of them."""
        further = {**(required or {}), **(optional or {})}
        return Fields(
            {**_leave_out(self.required, further), **(required or {})},
            {**_leave_out(self.optional, further), **(optional or {})},
        )


def _leave_out(fields: Mapping[str, str], names: Mapping[str, str]) -> Mapping[str, str]:
    return {name: kind for name, kind in fields.items() if name not in names}


@dataclass(frozen=True)
class Problem:
    """A field that is missing, unknown or of another type."""

    what: Literal["missing", "unknown", "type"]
    path: Path
    expected: str = ""
    found: str = ""


def kind_of(value: object) -> str:
    """Return the JSON type of a value."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def is_kind(value: object, expected: str) -> bool:
    """Return whether a value is of one of the types of `expected`."""
    found = kind_of(value)
    allowed = expected.split("|")
    return "any" in allowed or found in allowed or (found == "integer" and "number" in allowed)


def find_problem(value: Mapping[str, Any], fields: Fields, path: Path) -> Problem | None:
    """Return the first problem with the fields of an object."""
    for name in fields.required:
        if name not in value:
            return Problem("missing", (*path, name))
    for name, found in value.items():
        expected = fields.required.get(name) or fields.optional.get(name)
        if expected is None:
            return Problem("unknown", (*path, name))
        if not is_kind(found, expected):
            return Problem("type", (*path, name), expected, kind_of(found))
    return None


class SdkFields:
    """The objects of requests, as the official SDK of a dialect declares them.

    Attributes:
        objects: Objects by their names.
        groups: Groups of objects whose `type` (of messages their `role`) says which fields they
            have beside it.
    """

    def __init__(self, table: Mapping[str, Any]) -> None:
        """Read the content of a table."""
        read = {
            group: {name: Fields(**fields) for name, fields in members.items()}
            for group, members in table.items()
        }
        self.objects: Mapping[str, Fields] = read.pop("objects")
        self.groups: Mapping[str, Mapping[str, Fields]] = read


@cache
def read_sdk_fields(dialect: str) -> SdkFields:
    """Read `sdk_fields.json` in the folder of a dialect."""
    table = pathlib.Path(__file__).parents[1] / dialect / "sdk_fields.json"
    return SdkFields(json.loads(table.read_text()))
