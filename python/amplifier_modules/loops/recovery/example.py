"""An example of a call, in the form that a model must write."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

_MAX_DEPTH = 4
"""Levels of objects in an example."""
_OF_TYPE: dict[str, Any] = {
    "string": "...",
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "array": [],
    "null": None,
}


def example_call(name: str, tool: Any, tag: str) -> str:
    """Return a call of a tool with what its schema requires, in this tag."""
    schema: Any = getattr(tool, "input_schema", None)
    arguments = _object(_mapping(schema), _mapping(schema), _MAX_DEPTH)
    call = {"tool_name": name, "arguments": arguments}
    return f"<{tag}>{json.dumps(call, ensure_ascii=False, default=str)}</{tag}>"


def _object(schema: Mapping[str, Any], whole: Mapping[str, Any], depth: int) -> dict[str, Any]:
    properties, required = _mapping(schema.get("properties")), schema.get("required")
    if depth == 0 or not isinstance(required, list):
        return {}
    names = [name for name in cast("list[Any]", required) if isinstance(name, str)]
    return {name: _value(_mapping(properties.get(name)), whole, depth - 1) for name in names}


def _value(schema: Mapping[str, Any], whole: Mapping[str, Any], depth: int) -> Any:
    if isinstance(path := schema.get("$ref"), str):
        definitions = _mapping(whole.get("$defs"))
        if depth == 0:
            return {}
        return _value(_mapping(definitions.get(path.rpartition("/")[2])), whole, depth - 1)
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    for key in ("enum", "anyOf", "oneOf"):
        choices = schema.get(key)
        if isinstance(choices, list) and choices:
            first = cast("list[Any]", choices)[0]
            return first if key == "enum" else _value(_mapping(first), whole, depth)
    kind = schema.get("type")
    if kind == "object" or "properties" in schema:
        return _object(schema, whole, depth)
    return _OF_TYPE.get(kind, "...") if isinstance(kind, str) else "..."


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
