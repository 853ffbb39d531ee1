"""Which JSON schemas a vendor can hold an answer to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from .fields import Path
from .reading import read_items, read_mapping, read_text

TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
UNSUPPORTED = frozenset(
    {
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
class SchemaLimits:
    """What a vendor can hold an answer to."""

    unsupported: frozenset[str] = UNSUPPORTED
    """Keywords that it refuses."""
    every_property: bool = False
    """Whether each property must be required."""
    max_depth: int | None = None
    """How deep objects may be nested."""
    max_properties: int | None = None
    """How many properties a schema may have."""
    max_optional: int | None = None
    """How many of them need not be required."""
    min_items: frozenset[int] | None = None
    """The values of `minItems`, if not all."""
    recursive: bool = True
    """Whether a schema may refer to itself."""


@dataclass(frozen=True)
class SchemaProblem:
    """What is wrong with a schema, and where."""

    path: Path
    message: str


def schema_problem(schema: Mapping[str, Any], limits: SchemaLimits) -> SchemaProblem | None:
    """Return the first reason why answers cannot be held to a schema.

    Args:
        schema: The schema of an object.
        limits: Those of the vendor.
    """
    if problem := array_problem(schema) or _reference_problem(schema, limits):
        return problem
    count = optional = 0
    for path, part, depth in _list_schemas(schema, (), 1):
        if limits.max_depth is not None and depth > limits.max_depth:
            return SchemaProblem(path, f"{limits.max_depth} levels of nesting exceeded")
        for keyword, value in part.items():
            allowed = limits.min_items if keyword == "minItems" else None
            is_other = allowed is not None and value not in list(allowed)
            if keyword in limits.unsupported or is_other:
                return SchemaProblem(path, f"'{keyword}' is not permitted")
        if _is_object(part):
            if problem := _object_problem(part, path, every_property=limits.every_property):
                return problem
            properties, required = (
                read_mapping(part.get("properties")),
                read_items(part.get("required")),
            )
            count += len(properties)
            optional += len(properties) - len(required)
    if limits.max_properties is not None and count > limits.max_properties:
        return SchemaProblem((), f"{limits.max_properties} properties exceeded")
    if limits.max_optional is not None and optional > limits.max_optional:
        return SchemaProblem((), f"{limits.max_optional} optional properties exceeded")
    return None


def _reference_problem(schema: Mapping[str, Any], limits: SchemaLimits) -> SchemaProblem | None:
    """Return the first reference that leads nowhere, or to itself where that is refused."""
    parts: dict[str, Mapping[str, Any]] = {
        "/".join(["#", *map(str, path)]): part for path, part, _ in _list_schemas(schema, (), 1)
    }
    uses: dict[str, set[str]] = {place: set() for place in parts}
    for place, part in parts.items():
        target = part.get("$ref")
        if target is None:
            continue
        if target not in list(parts):
            path = tuple(place.split("/")[1:])
            return SchemaProblem(path, f"reference '{read_text(target)}' can not be resolved")
        for outer, used in uses.items():
            if place == outer or place.startswith(f"{outer}/"):
                used.add(read_text(target))
    if not limits.recursive:
        for place in parts:
            reached, new = set[str](), {place}
            while new:
                reached |= new
                new = {target for each in new for target in uses[each]}
                if place in new:
                    return SchemaProblem((), "recursive schemas are not permitted")
                new -= reached
    return None


def array_problem(schema: Mapping[str, Any]) -> SchemaProblem | None:
    """Return the first array that does not say what it holds."""
    for path, part, _ in _list_schemas(schema, (), 1):
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
    properties, required = read_mapping(part.get("properties")), read_items(part.get("required"))
    missing = [name for name in properties if name not in required]
    if every_property and missing:
        return SchemaProblem(
            path,
            "'required' is required to be supplied and to be an array including every key in"
            f" properties. Missing '{missing[0]}'",
        )
    unknown = [name for name in required if name not in list(properties)]
    if unknown:
        return SchemaProblem(path, f"'required' names '{unknown[0]}', which is not in properties")
    return None


def _is_object(part: Mapping[str, Any]) -> bool:
    kind = part.get("type")
    return kind == "object" or (isinstance(kind, list) and "object" in kind)


def _list_schemas(
    schema: object, path: Path, depth: int
) -> Iterator[tuple[Path, Mapping[str, Any], int]]:
    """Yield a schema and all schemas in it."""
    if not isinstance(schema, dict):
        return
    part = read_mapping(cast("object", schema))
    yield path, part, depth
    for keyword in ("properties", "$defs", "definitions", "patternProperties"):
        for name, inner in read_mapping(part.get(keyword)).items():
            deeper = depth + 1 if keyword == "properties" else 1
            yield from _list_schemas(inner, (*path, keyword, name), deeper)
    for keyword in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for index, inner in enumerate(read_items(part.get(keyword))):
            yield from _list_schemas(inner, (*path, keyword, index), depth)
    for keyword in ("items", "not"):
        yield from _list_schemas(part.get(keyword), (*path, keyword), depth)
