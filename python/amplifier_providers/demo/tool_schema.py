"""The arguments that a tool takes, as its JSON schema says."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from .foreign import read_items, read_mapping, read_text, write_code

_MAX_DEPTH = 8
_TRUE = frozenset({"true", "yes", "on"})
_FALSE = frozenset({"false", "no", "off"})
_EXPECTED = {
    "array": "a list", "boolean": "true or false", "integer": "an integer", "null": "null",
    "number": "a number", "object": 'an object such as {"name": 1}',
}  # fmt: skip
_NOTHING = frozenset({"null", "none", "nothing"})
_EXAMPLES = {
    "array": "[]", "boolean": "yes", "integer": "1", "null": "none", "number": "1.5",
    "object": '{"name": 1}',
}  # fmt: skip


class WrongValue(Exception):
    """A text that is no value of an argument; the message says what would be right."""


@dataclass(frozen=True)
class Tool:
    """A tool of a request."""

    name: str
    description: str
    schema: dict[str, Any]

    @property
    def properties(self) -> dict[str, Any]:
        """The schemas of its arguments by name; empty for a tool that takes any or none."""
        return read_mapping(self.schema.get("properties"))

    @property
    def required(self) -> list[str]:
        """The arguments that a call must have."""
        return [
            read_text(name) for name in read_items(self.schema.get("required")) if read_text(name)
        ]

    def read_value(self, name: str, written: str) -> Any:
        """Return the value of an argument that is written as a text.

        Raises:
            WrongValue: The text is none of the types of the argument.
        """
        kinds = self._list_kinds(self.properties.get(name), 0)
        for kind in kinds:
            found = _read(kind, written)
            if found is not None:
                return found[0]
        named = " or ".join(dict.fromkeys(_describe_expected(kind) for kind in kinds))
        raise WrongValue(f"{write_code(name)} must be {named}, found {write_code(written)}")

    def describe_argument(self, name: str) -> str:
        """Return an argument with its types and what it is for."""
        schema = read_mapping(self.properties.get(name))
        kinds = ", ".join(dict.fromkeys(_write_type(kind) for kind in self._list_kinds(schema, 0)))
        about = " ".join(read_text(schema.get("description")).split())
        return f"{write_code(name)} ({kinds or 'any value'})" + (f": {about}" if about else "")

    def write_example(self, name: str) -> str:
        """Return a value of an argument as it can be written in a call."""
        return _write_example(self._list_kinds(self.properties.get(name), 0)[0])

    def _list_kinds(self, given: Any, depth: int) -> list[dict[str, Any]]:
        """The plain schemas that a schema allows, in their order."""
        schema = read_mapping(given)
        if depth == _MAX_DEPTH:
            return [schema]
        if reference := read_text(schema.get("$ref")):
            return self._list_kinds(self._find_definition(reference), depth + 1)
        for key in ("anyOf", "oneOf", "allOf"):
            if choices := read_items(schema.get(key)):
                return [kind for each in choices for kind in self._list_kinds(each, depth + 1)]
        if several := read_items(schema.get("type")):
            return [{**schema, "type": each} for each in several]
        if read_text(schema.get("type")) == "array":
            inner = self._list_kinds(schema.get("items"), depth + 1)
            return [{**schema, "items": {"anyOf": inner}}]
        return [schema]

    def _find_definition(self, reference: str) -> Any:
        found: Any = self.schema
        for part in reference.removeprefix("#/").split("/"):
            found = read_mapping(found).get(part)
        return found


def _read(schema: dict[str, Any], written: str) -> tuple[Any] | None:
    """Read a text as a value of a plain schema; None if it is none of its values."""
    given = written.strip()
    plain = _unquote(given)
    if choices := read_items(schema.get("enum")) or (
        [schema["const"]] if "const" in schema else []
    ):
        fits = (each for each in choices if _as_text(each).lower() == plain.lower())
        return next(((each,) for each in fits), None)
    match schema.get("type"):
        case "string":
            return (plain,)
        case "integer":
            return (int(plain),) if re.fullmatch(r"[+-]?\d{1,18}", plain) else None
        case "number":
            is_number = re.fullmatch(r"[+-]?\d{1,18}(\.\d{1,18})?([eE][+-]?\d{1,2})?", plain)
            is_whole = re.fullmatch(r"[+-]?\d{1,18}", plain)
            return ((int(plain) if is_whole else float(plain)),) if is_number else None
        case "boolean":
            word = plain.lower()
            return (word in _TRUE,) if word in _TRUE | _FALSE else None
        case "null":
            return (None,) if plain.lower() in _NOTHING else None
        case "array":
            return _list(schema, plain)
        case "object":
            found = _read_json(plain)
            return found if found and isinstance(found[0], dict) else None
        case _:
            return _read_json(given) or (plain,)


def _list(schema: dict[str, Any], plain: str) -> tuple[Any] | None:
    found = _read_json(plain)
    if found is not None and isinstance(found[0], list):
        return found
    kinds = read_items(read_mapping(schema.get("items")).get("anyOf")) or [{}]
    values: list[Any] = []
    for part in re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", plain):
        read = next((each for kind in kinds if (each := _read(read_mapping(kind), part))), None)
        if read is None:
            return None
        values.append(read[0])
    return (values,)


def _read_json(written: str) -> tuple[Any] | None:
    try:
        return (json.loads(written),)
    except (ValueError, RecursionError):
        return None


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _unquote(written: str) -> str:
    """Return a text without the quotes around it."""
    quoted = re.fullmatch(r"\"(.*)\"|'(.*)'|`(.*)`|“(.*)”", written, re.DOTALL)
    return next(each for each in quoted.groups() if each is not None) if quoted else written


def _describe_expected(schema: dict[str, Any]) -> str:
    """What would be right, for a message."""
    is_chosen = "enum" in schema or "const" in schema
    plain = None if is_chosen else _EXPECTED.get(read_text(schema.get("type")))
    return plain or _write_type(schema)


def _write_type(schema: dict[str, Any]) -> str:
    if choices := read_items(schema.get("enum")) or (
        [schema["const"]] if "const" in schema else []
    ):
        return "one of " + ", ".join(write_code(_as_text(each)) for each in choices)
    kind = read_text(schema.get("type"))
    if kind == "array":
        inner = [
            _write_type(read_mapping(each))
            for each in read_items(read_mapping(schema.get("items")).get("anyOf"))
        ]
        return f"list of {' or '.join(dict.fromkeys(inner)) or 'values'}"
    return kind or "any value"


def _write_example(schema: dict[str, Any]) -> str:
    if choices := read_items(schema.get("enum")) or (
        [schema["const"]] if "const" in schema else []
    ):
        return _as_text(choices[0])
    kind = read_text(schema.get("type"))
    if kind == "array" and (kinds := read_items(read_mapping(schema.get("items")).get("anyOf"))):
        return _write_example(read_mapping(kinds[0]))
    return _EXAMPLES.get(kind, "…")
