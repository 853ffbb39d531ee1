"""What is wrong with the JSON schema of a tool: types that do not exist, parts that are no schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from amplifier_core.error_messages import short_repr
from amplifier_core.suggest import suggest_or_list

TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
"""The types of JSON schema."""

_PYTHON = {
    "bool": "boolean", "dict": "object", "float": "number", "int": "integer", "list": "array",
    "None": "null", "NoneType": "null", "str": "string", "tuple": "array",
}  # fmt: skip
"""What is often written for them."""

_ONE = (
    "additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then",
    "unevaluatedItems", "unevaluatedProperties",
)  # fmt: skip
_SEVERAL = ("allOf", "anyOf", "items", "oneOf", "prefixItems")
_BY_NAME = ("$defs", "definitions", "dependentSchemas", "patternProperties", "properties")
_MAX_DEPTH = 50


def schema_mistakes(schema: dict[Any, Any], path: str = "", depth: int = 0) -> Iterator[str]:
    """Yield each unknown type, and each part that should be a schema and is not, with its place."""
    if depth == _MAX_DEPTH:
        return  # deeper than any model reads; it may hold itself
    yield from _unknown_types(schema.get("type"), f"{path}type")
    for place, part in _list_parts(schema, path):
        if isinstance(part, dict):
            yield from schema_mistakes(cast("dict[Any, Any]", part), f"{place}.", depth + 1)
        elif not isinstance(part, bool):
            example = '{"type": "string"}'
            yield f"`{place}` is {short_repr(part)} (must be a schema such as `{example}`)"
    properties = schema.get("properties")
    if not isinstance(properties, dict | None):
        yield f"`{path}properties` is {short_repr(properties)} (must be an object of schemas)"


def _unknown_types(declared: Any, place: str) -> Iterator[str]:
    several = cast("list[Any]", declared) if isinstance(declared, list) else [declared]
    for name in several:
        if name is None and not isinstance(declared, list):
            continue
        if not (isinstance(name, str) and name in TYPES):
            meant = _PYTHON.get(str(name))
            advice = f" (did you mean `{meant}`?)" if meant else suggest_or_list(str(name), TYPES)
            yield f"`{place}` is {short_repr(name)}, an unknown type{advice}"


def _list_parts(schema: dict[Any, Any], path: str) -> Iterator[tuple[str, Any]]:
    """The schemas within a schema, with their places."""
    for key in _ONE:
        if key in schema and not (key in _SEVERAL and isinstance(schema[key], list)):
            yield f"{path}{key}", schema[key]
    for key in _SEVERAL:
        listed = schema.get(key)
        if isinstance(listed, list):
            for position, part in enumerate(cast("list[Any]", listed)):
                yield f"{path}{key}[{position}]", part
    for key in _BY_NAME:
        named = schema.get(key)
        if isinstance(named, dict):
            for name, part in cast("dict[Any, Any]", named).items():
                yield f"{path}{key}.{name}", part
