"""Validation refuses the schema of a tool that names a type which does not exist."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.validation._schema import TYPES, schema_mistakes

GOOD = st.recursive(
    st.one_of(
        st.booleans(),
        st.fixed_dictionaries({"type": st.sampled_from(TYPES)}),
        st.fixed_dictionaries({"type": st.lists(st.sampled_from(TYPES), min_size=1)}),
        st.just({"enum": ["type", 1]}),
    ),
    lambda inner: st.one_of(
        st.builds(lambda part: {"type": "array", "items": part}, inner),
        st.builds(lambda part: {"type": "object", "properties": {"type": part}}, inner),
        st.builds(lambda part: {"anyOf": [part, {"type": "null"}]}, inner),
        st.builds(lambda part: {"$defs": {"a": part}, "$ref": "#/$defs/a"}, inner),
        st.builds(lambda part: {"additionalProperties": part}, inner),
    ),
    max_leaves=8,
).filter(lambda schema: isinstance(schema, dict))


@given(GOOD)
def test_a_schema_of_the_types_of_json_schema_has_no_mistake(schema: dict[str, Any]):
    assert list(schema_mistakes(schema)) == []


@given(GOOD, st.text(max_size=9).filter(lambda name: name not in TYPES))
def test_an_unknown_type_is_found_at_any_depth(schema: dict[str, Any], name: str):
    for wrong in (
        {"properties": {"a": {"type": name}, "b": schema}},
        {"items": {"allOf": [schema, {"type": ["null", name]}]}},
        {"$defs": {"x": {"prefixItems": [{"not": {"type": name}}]}}, "properties": {"b": schema}},
    ):
        assert len(list(schema_mistakes(wrong))) == 1


@pytest.mark.parametrize(
    ("schema", "mistake"),
    [
        (
            {"properties": {"city": {"type": "str"}}},
            "`properties.city.type` is 'str', an unknown type (did you mean `string`?)",
        ),
        (
            {"properties": {"days": {"type": "intger"}}},
            "`properties.days.type` is 'intger', an unknown type (did you mean `integer`?)",
        ),
        (
            {"properties": {"city": "string"}},
            '`properties.city` is \'string\' (must be a schema such as `{"type": "string"}`)',
        ),
        ({"properties": ["city"]}, "`properties` is ['city'] (must be an object of schemas)"),
        (
            {"items": {"type": None}, "type": ["array", 7]},
            (
                "`type` is 7, an unknown type (known: `array`, `boolean`, `integer`, `null`, "
                "`number`, `object`, `string`)"
            ),
        ),
    ],
)
def test_each_mistake_names_its_place_and_what_may_be_meant(schema: dict[str, Any], mistake: str):
    assert list(schema_mistakes(schema)) == [mistake]


def test_a_schema_that_holds_itself_is_read_to_an_end():
    schema: dict[str, Any] = {"properties": {}}
    schema["properties"]["again"] = schema
    assert list(schema_mistakes(schema)) == []
