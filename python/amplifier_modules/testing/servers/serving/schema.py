"""Which JSON schemas a vendor can hold an answer to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from .fields import Path
from .reading import items, mapping

TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
MAX_DEPTH = 10
"""How deep objects may be nested."""
MAX_PROPERTIES = 5_000
"""How many properties a schema may have."""

UNSUPPORTED = frozenset(
    {
        "allOf",
        "contains",
        "dependentRequired",
        "dependentSchemas",
        "else",
        "if",
        "maxContains",
        "maxProperties",
        "minContains",
        "minProperties",
        "not",
        "oneOf",
        "patternProperties",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
        "uniqueItems",
    }
)
"""Keywords that no vendor can hold an answer to."""


@dataclass(frozen=True)
class SchemaProblem:
    """What is wrong with a schema, and where."""

    path: Path
    said: str


def schema_problem(
    schema: Mapping[str, Any],
    *,
    every_property: bool,
    unsupported: frozenset[str] = UNSUPPORTED,
) -> SchemaProblem | None:
    """Return the first reason why answers cannot be held to a schema.

    Args:
        schema: The schema of an object.
        every_property: Whether each property must be required.
        unsupported: The keywords that the vendor refuses.
    """
    if problem := array_problem(schema):
        return problem
    count = 0
    for path, part, depth in _parts(schema, (), 1):
        if depth > MAX_DEPTH:
            return SchemaProblem(path, f"{MAX_DEPTH} levels of nesting exceeded")
        for keyword in part:
            if keyword in unsupported:
                return SchemaProblem(path, f"'{keyword}' is not permitted")
        if _is_object(part):
            count += len(mapping(part.get("properties")))
            if problem := _object_problem(part, path, every_property=every_property):
                return problem
    if count > MAX_PROPERTIES:
        return SchemaProblem((), f"{MAX_PROPERTIES} properties exceeded")
    return None


def array_problem(schema: Mapping[str, Any]) -> SchemaProblem | None:
    """Return the first array that does not say what it holds."""
    for path, part, _ in _parts(schema, (), 1):
        if part.get("type") == "array" and "items" not in part and "prefixItems" not in part:
            return SchemaProblem(path, "array schema missing items")
    return None


def _object_problem(
    part: Mapping[str, Any], path: Path, *, every_property: bool
) -> SchemaProblem | None:
    if part.get("additionalProperties") is not False:
        return SchemaProblem(
            path, "'additionalProperties' is required to be supplied and to be false"
        )
    properties, required = mapping(part.get("properties")), items(part.get("required"))
    missing = [name for name in properties if name not in required]
    if every_property and missing:
        return SchemaProblem(
            path,
            "'required' is required to be supplied and to be an array including every key in"
            f" properties. Missing '{missing[0]}'",
        )
    unknown = [name for name in required if name not in properties]
    if unknown:
        return SchemaProblem(path, f"'required' names '{unknown[0]}', which is not in properties")
    return None


def _is_object(part: Mapping[str, Any]) -> bool:
    kind = part.get("type")
    return kind == "object" or (isinstance(kind, list) and "object" in kind)


def _parts(schema: object, path: Path, depth: int) -> Iterator[tuple[Path, Mapping[str, Any], int]]:
    """Yield a schema and all schemas in it."""
    if not isinstance(schema, dict):
        return
    part = mapping(cast("object", schema))
    yield path, part, depth
    for keyword in ("properties", "$defs", "definitions", "patternProperties"):
        for name, inner in mapping(part.get(keyword)).items():
            deeper = depth + 1 if keyword == "properties" else 1
            yield from _parts(inner, (*path, keyword, name), deeper)
    for keyword in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for index, inner in enumerate(items(part.get(keyword))):
            yield from _parts(inner, (*path, keyword, index), depth)
    for keyword in ("items", "not"):
        yield from _parts(part.get(keyword), (*path, keyword), depth)
