"""JSON schemas in the form that services take."""

from __future__ import annotations

from typing import Any, cast

from .fields import JsonDict

_COMBINED = ("anyOf", "oneOf", "allOf")
_NOT_AT_THE_TOP = frozenset({*_COMBINED, "not", "enum", "const", "if", "then", "else"})


def object_schema(schema: JsonDict) -> JsonDict:
    """Return the schema of a tool's arguments as an object, as services want it at the top.

    Alternatives of objects become one object with the properties of all; what only some of them
    require is not required.
    """
    schema = resolve_reference(schema)
    reduced = {key: value for key, value in schema.items() if key not in _NOT_AT_THE_TOP}
    reduced["type"] = "object"
    properties = schema.get("properties")
    found: JsonDict = dict(cast("JsonDict", properties)) if isinstance(properties, dict) else {}
    required = _required_names(schema)
    for key in _COMBINED:
        options: list[JsonDict] = [
            each for each in _as_list(schema.get(key)) if isinstance(each, dict)
        ]
        for option in options:
            inner = option.get("properties")
            for name, value in (cast("JsonDict", inner) if isinstance(inner, dict) else {}).items():
                found.setdefault(name, value)
        each = [_required_names(option) for option in options]
        if each and key == "allOf":
            required |= set[str]().union(*each)
        elif each:
            required |= set[str].intersection(*each)
    reduced["properties"] = found
    needed = [name for name in found if name in required]
    if needed:
        reduced["required"] = needed
    else:
        reduced.pop("required", None)
    return reduced


def resolve_reference(schema: JsonDict) -> JsonDict:
    """Return a schema without a reference at its top, where that leads to a definition of its own."""
    definitions = schema.get("$defs")
    seen: set[str] = set()
    while isinstance(reference := schema.get("$ref"), str) and reference not in seen:
        seen.add(reference)
        name = reference.removeprefix("#/$defs/")
        found = cast("JsonDict", definitions).get(name) if isinstance(definitions, dict) else None
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**cast("JsonDict", found), **rest} if isinstance(found, dict) else rest
    return schema


def _required_names(schema: JsonDict) -> set[str]:
    return {name for name in _as_list(schema.get("required")) if isinstance(name, str)}


def _as_list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
