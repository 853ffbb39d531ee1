"""Schemas of functions and of answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..serving.fields import Path
from ..serving.schema import UNSUPPORTED, SchemaLimits, array_problem, schema_problem
from .refusals import check_length, make_invalid, write_place

_NAME = re.compile(r"[a-zA-Z0-9_-]+")
MAX_NAME = 64
LIMITS = SchemaLimits(
    UNSUPPORTED | {"allOf"}, every_property=True, max_depth=10, max_properties=5_000
)
"""What OpenAI can hold an answer to: its guide to structured outputs."""
_TOP = ("oneOf", "anyOf", "allOf", "enum", "not")


def check_name(name: str, path: Path) -> None:
    """The name of a function or a schema has plain characters and is short."""
    if not name:
        raise make_invalid(
            f"Invalid '{write_place(path)}': empty string. Expected a string with minimum length 1, but"
            " got an empty string instead.",
            path,
            "empty_string",
        )
    check_length(name, MAX_NAME, path)
    if not _NAME.fullmatch(name):
        raise make_invalid(
            f"Invalid '{write_place(path)}': string does not match pattern. Expected a string that"
            " matches the pattern '^[a-zA-Z0-9_-]+$'.",
            path,
            "invalid_value",
        )


def check_parameters(
    name: str, schema: Mapping[str, Any] | None, path: Path, *, strict: bool
) -> None:
    """The schema of the arguments of a function is that of an object, and closed if strict."""
    if schema is None:
        return
    _check(f"function '{name}'", schema, path, "invalid_function_parameters", strict=strict)


def check_answer_schema(name: str, schema: Mapping[str, Any], path: Path, *, strict: bool) -> None:
    """The schema of an answer is that of an object, and closed if strict."""
    _check(f"response_format '{name}'", schema, path, "invalid_json_schema", strict=strict)


def _check(of: str, schema: Mapping[str, Any], path: Path, code: str, *, strict: bool) -> None:
    kind = schema.get("type")
    if kind != "object":
        raise make_invalid(
            f"Invalid schema for {of}: schema must be a JSON Schema of 'type: \"object\"', got"
            f" 'type: \"{kind}\"'.",
            path,
            code,
        )
    if any(keyword in schema for keyword in _TOP):
        raise make_invalid(
            f"Invalid schema for {of}: schema must have type 'object' and not have"
            " 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.",
            path,
            code,
        )
    problem = schema_problem(schema, LIMITS) if strict else array_problem(schema)
    if problem is not None:
        context = "(" + ", ".join(repr(part) for part in problem.path)
        context += ",)" if len(problem.path) == 1 else ")"
        raise make_invalid(
            f"Invalid schema for {of}: In context={context}, {problem.message}.", path, code
        )
