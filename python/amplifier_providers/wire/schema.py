"""JSON schemas in the form that services take."""

from __future__ import annotations

from typing import Any, cast

from .fields import JsonDict, fields_of

_COMBINED = ("anyOf", "oneOf", "allOf")
_NOT_AT_THE_TOP = frozenset({*_COMBINED, "not", "enum", "const", "if", "then", "else"})


_KEPT = frozenset(
    {
        "type", "enum", "const", "title", "description", "pattern", "format", "multipleOf", "minimum",
        "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems",
    }
)  # fmt: skip
_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
)
_DEFINITIONS = ("$defs", "definitions")
_MAX_DEPTH = 64


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


class _Unfit(Exception):
    """A part of a schema has no strict form."""


def strict_schema(
    schema: JsonDict, *, without: frozenset[str] = frozenset(), recursive: bool = True
) -> JsonDict | None:
    """Return the strict form of a schema: closed objects, each of whose properties is required.

    Keywords that strict schemas do not have are left out, so what fits the result is checked against
    the schema itself. None if it has no such form: its top is no object, or a part of it is open.

    Args:
        schema: The schema of an answer.
        without: Further keywords that the service does not have.
        recursive: Whether a part may contain itself.
    """
    try:
        reduction = _Reduction(schema, _KEPT - without)
        return reduction.result() if recursive or not reduction.is_recursive() else None
    except _Unfit:
        return None


class _Reduction:
    def __init__(self, schema: JsonDict, kept: frozenset[str]) -> None:
        self._schema = schema
        self._kept = kept
        self._definitions = {
            f"#/{key}/{name}": fields_of(value)
            for key in _DEFINITIONS
            for name, value in fields_of(schema.get(key)).items()
        }

    def is_recursive(self) -> bool:
        """Whether a definition leads back to itself."""
        leads = {name: _find_references(value) for name, value in self._definitions.items()}
        if "#" in set[str]().union(_find_references(self._schema), *leads.values()):
            return True
        for start, first in leads.items():
            found, seen = list(first), set[str]()
            while found:
                reference = found.pop()
                if reference == start:
                    return True
                if reference not in seen:
                    seen.add(reference)
                    found += leads.get(reference, ())
        return False

    def result(self) -> JsonDict:
        top, seen = self._schema, set[str]()
        while isinstance(reference := top.get("$ref"), str):
            if reference in seen or reference not in self._definitions:
                raise _Unfit
            seen.add(reference)
            top = self._definitions[reference]
        reduced = self._reduce(top, 0)
        if reduced.get("type") != "object":
            raise _Unfit
        for key in _DEFINITIONS:
            if defined := fields_of(self._schema.get(key)):
                reduced[key] = {
                    name: self._reduce(fields_of(value), 1) for name, value in defined.items()
                }
        return reduced

    def _reduce(self, schema: JsonDict, depth: int) -> JsonDict:
        if not schema or depth > _MAX_DEPTH:
            raise _Unfit
        reference = schema.get("$ref")
        if isinstance(reference, str):
            if reference != "#" and reference not in self._definitions:
                raise _Unfit
            return {"$ref": reference}
        if options := _as_schemas(schema.get("allOf")):
            if len(options) > 1:
                raise _Unfit
            rest = {key: value for key, value in schema.items() if key != "allOf"}
            return self._reduce({**rest, **options[0]}, depth + 1)
        reduced = {key: value for key, value in schema.items() if key in self._kept}
        if reduced.get("format") not in _FORMATS:
            reduced.pop("format", None)
        if options := _as_schemas(schema.get("anyOf")) or _as_schemas(schema.get("oneOf")):
            reduced["anyOf"] = [self._reduce(option, depth + 1) for option in options]
        elif "enum" not in schema and "const" not in schema:
            self._add_parts(schema, reduced, depth)
        return reduced

    def _add_parts(self, schema: JsonDict, reduced: JsonDict, depth: int) -> None:
        kinds = schema.get("type")
        kinds = cast("list[Any]", kinds) if isinstance(kinds, list) else [kinds]
        if kinds == [None]:
            raise _Unfit
        if "object" in kinds:
            properties = fields_of(schema.get("properties"))
            if not properties and (
                "properties" not in schema or schema.get("additionalProperties")
            ):
                raise _Unfit  # a mapping with keys of any name
            needed = schema.get("required") or ()
            if any(
                name not in needed and self._is_endless(fields_of(value))
                for name, value in properties.items()
            ):
                raise _Unfit
            reduced["properties"] = {
                name: self._reduce(fields_of(value), depth + 1)
                for name, value in properties.items()
            }
            reduced["required"] = list(properties)
            reduced["additionalProperties"] = False
        if "array" in kinds:
            if "prefixItems" in schema:
                raise _Unfit
            reduced["items"] = self._reduce(fields_of(schema.get("items")), depth + 1)

    def _is_endless(self, schema: JsonDict) -> bool:
        """Whether a value that need not be there would contain itself if it had to be."""
        start = schema.get("$ref")
        found, seen = [start], set[str]()
        while found:
            reference = found.pop()
            if reference == "#" or (reference in seen and reference == start):
                return True
            if not isinstance(reference, str) or reference in seen:
                continue
            seen.add(reference)
            target = self._definitions.get(reference, {})
            found += [
                fields_of(each).get("$ref") for each in fields_of(target.get("properties")).values()
            ]
        return False


def _find_references(value: Any) -> set[str]:
    """Return what the references in a schema, definitions left out, lead to."""
    if isinstance(value, list):
        return set[str]().union(*map(_find_references, cast("list[Any]", value)))
    if not isinstance(value, dict):
        return set()
    found = set[str]()
    for key, inner in cast("JsonDict", value).items():
        if key == "$ref" and isinstance(inner, str):
            found.add(inner)
        elif key not in _DEFINITIONS:
            found |= _find_references(inner)
    return found


def _as_schemas(value: Any) -> list[JsonDict]:
    return [fields_of(each) for each in cast("list[Any]", value)] if isinstance(value, list) else []
