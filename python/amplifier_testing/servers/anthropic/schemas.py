"""Schemas that answers and the arguments of strict tools are held to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..serving.fields import Path
from ..serving.schema import UNSUPPORTED, SchemaLimits, schema_problem
from .refusals import invalid

LIMITS = SchemaLimits(
    UNSUPPORTED
    | {
        "exclusiveMaximum",
        "exclusiveMinimum",
        "maxItems",
        "maxLength",
        "maximum",
        "minLength",
        "minimum",
        "multipleOf",
    },
    max_optional=24,
    min_items=frozenset({0, 1}),
    recursive=False,
)
"""What Anthropic can hold an answer to: its guide to structured outputs."""


def check_held_schema(schema: Mapping[str, Any], path: Path) -> None:
    """Refuse a schema that an answer cannot be held to."""
    problem = schema_problem(schema, LIMITS)
    if problem is not None:
        raise invalid(problem.said, (*path, *problem.path))
