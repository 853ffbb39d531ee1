"""Each shared type has one JSON schema, whichever side is asked; whatever differs is named."""

from __future__ import annotations

import copy
import datetime as dt
import json
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, TypeAdapter, ValidationError, create_model
from pydantic.json_schema import GenerateJsonSchema, NoDefault
from pydantic_core import core_schema

from amplifier_core._engine import _json_schema, _round_trip, _shared_types

Schema = dict[str, Any]
PythonType = Callable[[str], Any]

SHAPES = _shared_types()
RECORDS = [name for name, (shape, _) in SHAPES.items() if shape == "record"]
UNIONS = [name for name, (shape, _) in SHAPES.items() if shape == "union"]
WORDS = [name for name, (shape, _) in SHAPES.items() if shape == "words"]
MODES = ["validation", "serialization"]
INTENDED = {
    # Rust has no clock.
    "SessionStatus": ["`SessionStatus.started_at` is required in Rust only"]
}

LEFT_OUT = {("ToolResult", "content"), ("claude::ThinkingBlock", "signature")}
"""Fields that are left out where they are empty."""


class Fields(GenerateJsonSchema):
    """Pydantic's schema, with the defaults that a function makes and without opaque writers."""

    def get_default_value(self, schema: core_schema.WithDefaultSchema) -> Any:
        factory = schema.get("default_factory")
        if factory is None:
            return super().get_default_value(schema)
        made = factory()  # type: ignore[call-arg]  # none of ours takes the other fields
        return NoDefault if isinstance(made, dt.datetime) else made

    def ser_schema(self, schema: Any) -> Any:
        # `ToolResult` leaves out what is empty: its writers return a dict of which nothing is said.
        if schema["type"] == "function-wrap" or schema.get("is_field_serializer"):
            return None
        return super().ser_schema(schema)


def normal(schema: Any, definitions: Schema) -> Any:
    """The schema with its definitions in place, each field told whether it is required."""
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        reference = schema["$ref"].rpartition("/")[2]
        others = {key: value for key, value in schema.items() if key != "$ref"}
        return normal(definitions[reference] | others, definitions)

    kept: Schema = {}
    for key, value in schema.items():
        match key:
            case "title" | "description" | "$defs" | "discriminator" | "required":
                continue
            case "properties":
                required = schema.get("required", [])
                kept["fields"] = {
                    name: {**normal(field, definitions), "required": name in required}
                    for name, field in value.items()
                }
            case "anyOf" | "oneOf":
                variants = [normal(variant, definitions) for variant in value]
                kept["anyOf"] = [
                    inner
                    for variant in variants
                    for inner in (variant["anyOf"] if list(variant) == ["anyOf"] else [variant])
                ]
            case "items" | "additionalProperties":
                kept[key] = normal(value, definitions)
            case _:
                kept[key] = value
    if {} in kept.get("anyOf", ()):
        del kept["anyOf"]
    return kept


def rust_schema(name: str, mode: str = "validation") -> Schema:
    return normal(json.loads(_json_schema(name, mode)), {})


def python_schema(annotation: Any, mode: Any = "validation") -> Schema:
    adapter = TypeAdapter[Any](annotation)
    schema = adapter.json_schema(by_alias=False, mode=mode, schema_generator=Fields)
    return normal(schema, schema.get("$defs", {}))


def differences(place: str, rust: Schema, python: Schema) -> Iterator[str]:
    """What is not the same on both sides, each with the type and the field where it is."""
    if "fields" in rust and "fields" in python:
        yield from fields_that_differ(place, rust["fields"], python["fields"])
    elif "items" in rust and "items" in python:
        yield from differences(f"{place}[]", rust["items"], python["items"])
    elif "anyOf" in rust and "anyOf" in python:
        yield from variants_that_differ(place, rust["anyOf"], python["anyOf"])
    elif "enum" in rust and "enum" in python:
        yield from only_on_one_side(place, rust["enum"], python["enum"])
    elif kind(rust) != kind(python):
        yield f"`{place}` is {kind(rust)} in Rust, {kind(python)} in Python"

    if rust.get("required") != python.get("required"):
        yield f"`{place}` is required in {'Rust' if rust.get('required') else 'Python'} only"
    for keyword in ("additionalProperties", "const", "default", "format", "maximum", "minimum"):
        one, other = (json.dumps(side.get(keyword, "absent")) for side in (rust, python))
        if one != other:
            yield f"`{place}` has `{keyword}` {one} in Rust, {other} in Python"


def fields_that_differ(place: str, rust: Schema, python: Schema) -> Iterator[str]:
    yield from only_on_one_side(place, list(rust), list(python))
    for name in rust.keys() & python.keys():
        yield from differences(f"{place}.{name}", rust[name], python[name])


def variants_that_differ(place: str, rust: list[Schema], python: list[Schema]) -> Iterator[str]:
    rust_kinds, python_kinds = ({kind(v): v for v in side} for side in (rust, python))
    yield from only_on_one_side(place, list(rust_kinds), list(python_kinds), "|")
    for variant in rust_kinds.keys() & python_kinds.keys():
        inner = f"{place}<{variant}>" if "fields" in rust_kinds[variant] else place
        yield from differences(inner, rust_kinds[variant], python_kinds[variant])


def only_on_one_side(
    place: str, rust: list[str], python: list[str], separator: str = "."
) -> Iterator[str]:
    for side, one, other in (("Rust", rust, python), ("Python", python, rust)):
        for part in one:
            if part not in other:
                yield f"`{place}{separator}{part}` is in {side} only"
    if [part for part in rust if part in python] != [part for part in python if part in rust]:
        yield f"`{place}` has its parts in another order"


def kind(schema: Schema) -> str:
    """What a schema is, in a word or two; a variant of a union by its tag."""
    if "anyOf" in schema:
        return " or ".join(map(kind, schema["anyOf"]))
    if "fields" in schema:
        return schema["fields"].get("type", {}).get("const", "record")
    return "one of some words" if "enum" in schema else schema.get("type", "anything")


# Holds: json-7
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", SHAPES)
def test_a_type_has_the_same_schema_on_both_sides(
    name: str, mode: str, python_type: PythonType
) -> None:
    rust, python = rust_schema(name, mode), python_schema(python_type(name), mode)

    assert list(differences(name, rust, python)) == INTENDED.get(name, [])
    assert (rust == python) is (name not in INTENDED)


CHANGES = ["removed", "renamed", "retyped", "given another default"]


def changed_in_rust(schema: Schema, name: str, change: str) -> Schema:
    """The schema as it were if a field of the Rust type had been changed."""
    fields: Schema = {}
    for key, field in schema["fields"].items():
        match change if key == name else "kept":
            case "removed":
                continue
            case "renamed":
                fields[f"{key}_renamed"] = field
            case "retyped":
                same = {word: field[word] for word in ("required", "default") if word in field}
                fields[key] = same | {"type": "string" if kind(field) == "boolean" else "boolean"}
            case "given another default":
                fields[key] = field | {"default": "another", "required": False}
            case _:
                fields[key] = field
    return schema | {"fields": fields}


def changed_in_python(model: type[BaseModel], name: str, change: str) -> type[BaseModel]:
    """The model as it were if a field of it had been changed."""
    fields: dict[str, Any] = {}
    for key, field in model.model_fields.items():
        match change if key == name else "kept":
            case "removed":
                continue
            case "renamed":
                fields[f"{key}_renamed"] = (field.annotation, field)
            case "retyped":
                default = {} if field.is_required() else {"default": field.get_default()}
                fields[key] = (str if field.annotation is bool else bool, Field(**default))
            case "given another default":
                annotation = Annotated[field.annotation, change, *field.metadata]
                fields[key] = (annotation, "another")
            case _:
                fields[key] = (field.annotation, field)
    return create_model(model.__name__, __config__=model.model_config, **fields)


# Holds: json-8
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("side", ["Rust", "Python"])
@pytest.mark.parametrize("name", RECORDS)
def test_a_field_changed_on_one_side_is_named(
    name: str, side: str, change: str, python_type: PythonType
) -> None:
    rust, model = rust_schema(name), python_type(name)
    other = "Python" if side == "Rust" else "Rust"

    for field in rust["fields"]:
        if side == "Rust":
            changed = changed_in_rust(rust, field, change), python_schema(model)
        else:
            changed = rust, python_schema(changed_in_python(model, field, change))
        found = [one for one in differences(name, *changed) if one not in INTENDED.get(name, [])]

        place = f"`{name}.{field}`"
        match change:
            case "removed":
                assert found == [f"{place} is in {other} only"]
            case "renamed":
                new = f"`{name}.{field}_renamed` is in {side} only"
                assert sorted(found) == sorted([new, f"{place} is in {other} only"])
            case _:
                assert found
                assert all(one.startswith(place) for one in found)


@pytest.mark.parametrize("name", [*UNIONS, *WORDS])
def test_a_variant_or_word_that_one_side_has_alone_is_named(
    name: str, python_type: PythonType
) -> None:
    schema = rust_schema(name)
    (parts,) = (key for key in ("anyOf", "enum") if key in schema)
    separator, named = ("|", kind) if parts == "anyOf" else (".", str)
    assert schema == python_schema(python_type(name))

    for part in schema[parts]:
        without = schema | {parts: [other for other in schema[parts] if other != part]}
        place = f"`{name}{separator}{named(part)}`"
        assert list(differences(name, without, schema)) == [f"{place} is in Python only"]
        assert list(differences(name, schema, without)) == [f"{place} is in Rust only"]
    backwards = schema | {parts: schema[parts][::-1]}
    assert list(differences(name, backwards, schema)) == [
        f"`{name}` has its parts in another order"
    ]


def test_a_difference_deep_inside_is_named_with_its_way() -> None:
    rust = rust_schema("ChatRequest")
    python = copy.deepcopy(rust)
    blocks = python["fields"]["messages"]["items"]["fields"]["content"]["anyOf"][1]["items"]
    blocks["anyOf"][0]["fields"]["text"]["type"] = "integer"

    assert list(differences("ChatRequest", rust, python)) == [
        "`ChatRequest.messages[].content[]<text>.text` is string in Rust, integer in Python"
    ]


def test_a_schema_is_asked_for_by_a_name_and_a_mode_that_exist() -> None:
    with pytest.raises(KeyError, match="unknown shared type `Massage`"):
        _json_schema("Massage")
    with pytest.raises(ValueError, match="must be `validation` or `serialization`, found `both`"):
        _json_schema("Message", "both")


SAMPLES: list[tuple[str, object]] = [
    ("null", None),
    ("boolean", True),
    ("integer", 1),
    ("number", 0.5),
    ("string", "no such word"),
    ("array", []),
    ("object", {}),
]


def example(schema: Schema) -> Any:
    """A value that fits a schema, with required fields only."""
    for keyword in ("const", "default"):
        if keyword in schema:
            return schema[keyword]
    if "fields" in schema:
        fields = schema["fields"].items()
        return {name: example(field) for name, field in fields if field["required"]}
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return example(schema["anyOf"][0])
    if schema.get("format") == "date-time":
        return "2026-01-02T03:04:05Z"
    return dict(SAMPLES)[schema.get("type", "null")]


def json_types(schema: Schema) -> set[str]:
    """The types of JSON of which a value may be."""
    if "anyOf" in schema:
        return set[str]().union(*map(json_types, schema["anyOf"]))
    if "fields" in schema:
        return {"object"}
    if "enum" in schema or "const" in schema or "format" in schema:
        return set()
    if "type" not in schema:
        return {name for name, _ in SAMPLES}
    return {"number", "integer"} if schema["type"] == "number" else {schema["type"]}


@pytest.mark.parametrize("name", RECORDS)
def test_a_type_reads_and_writes_what_its_schema_says(name: str, python_type: PythonType) -> None:
    schema, model = rust_schema(name), python_type(name)
    rust_name = name.removeprefix("claude::")
    least = {**example(schema), **({"type": "audio"} if rust_name == "UnknownBlock" else {})}
    text = json.dumps(least)
    written = _round_trip(name, text.encode())

    assert written == model.model_validate_json(text).model_dump_json()
    assert json.loads(written) == least | {
        key: field["default"]
        for key, field in schema["fields"].items()
        if "default" in field and (name, key) not in LEFT_OUT
    }
    for key, field in schema["fields"].items():
        for json_type, value in SAMPLES:
            if json_type in json_types(field):
                continue
            wrong = json.dumps(least | {key: value})
            with pytest.raises(ValueError, match=rf"`{rust_name}\.{key}` must be"):
                _round_trip(name, wrong.encode())
            with pytest.raises(ValidationError):
                model.model_validate_json(wrong, strict=True)
    for key in model.model_fields:
        if schema["fields"][key]["required"]:
            without = json.dumps({other: least[other] for other in least if other != key})
            with pytest.raises(ValueError, match=rf"`{rust_name}\.{key}` (is missing|must be)"):
                _round_trip(name, without.encode())
