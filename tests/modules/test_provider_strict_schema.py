"""The strict form of JSON schemas."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from amplifier_providers.wire.schema import strict_schema


class Street(BaseModel):
    name: str = Field(min_length=1)
    number: int | None = None


class City(BaseModel):
    name: Literal["Paris", "Rome"]
    streets: list[Street] = []
    mayor: Street | None = None


class Tree(BaseModel):
    value: int
    left: Tree | None = None


def _objects(schema: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if isinstance(schema, dict):
        found += [schema] if schema.get("type") == "object" else []
        for value in schema.values():
            found += _objects(value)
    elif isinstance(schema, list):
        for value in schema:
            found += _objects(value)
    return found


@pytest.mark.parametrize("model", [Street, City, Tree])
def test_each_object_of_a_strict_schema_is_closed_and_requires_all(model: type[BaseModel]) -> None:
    strict = strict_schema(model.model_json_schema())

    assert strict is not None
    assert strict["type"] == "object"
    for each in _objects(strict):
        assert each["additionalProperties"] is False
        assert each["required"] == list(each["properties"])
    assert "default" not in str(strict)
    assert "minLength" not in str(strict)


def test_what_a_model_answers_within_the_strict_schema_fits_the_model() -> None:
    answer = {"name": "Paris", "streets": [{"name": "Rue", "number": None}], "mayor": None}
    assert City.model_validate(answer).streets == [Street(name="Rue")]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"type": "string"}},
        {"type": "object"},
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"type": "object", "properties": {"any": {}}},
        {"type": "object", "properties": {"x": {"type": "array"}}},
        {"type": "object", "properties": {"x": {"$ref": "https://example.org/schema"}}},
        {"type": "object", "properties": {"again": {"$ref": "#"}}},
        {"anyOf": [{"type": "object", "properties": {}}, {"type": "null"}]},
        {"$ref": "#/$defs/Missing"},
        {},
    ],
)
def test_an_open_schema_has_no_strict_form(schema: dict[str, Any]) -> None:
    assert strict_schema(schema) is None
