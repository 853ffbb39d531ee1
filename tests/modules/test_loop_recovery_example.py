"""The example of a call that a model is shown after an error."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from amplifier_modules.function_tool import FunctionTool
from amplifier_modules.loops.recovery.example import example_call
from amplifier_stream import ToolCallParser

SCHEMAS = st.recursive(
    st.sampled_from(
        [
            {"type": "string"}, {"type": "integer"}, {"type": "number"}, {"type": "boolean"},
            {"type": "array"}, {"enum": ["a", "b"]}, {"const": 3}, {"type": "integer", "default": 7},
            {"anyOf": [{"type": "integer"}, {"type": "null"}]}, {"$ref": "#/$defs/Place"},
        ]
    ),
    lambda inner: st.dictionaries(st.sampled_from(["p", "q"]), inner).map(
        lambda properties: {
            "type": "object", "properties": properties, "required": list(properties),
        }
    ),
)  # fmt: skip
DEFINITIONS = {"Place": {"type": "object", "properties": {"city": {}}, "required": ["city"]}}


@given(
    st.dictionaries(st.sampled_from(["x", "y"]), SCHEMAS).map(
        lambda properties: {
            "type": "object", "properties": properties, "required": list(properties),
            "$defs": DEFINITIONS,
        }
    )
)  # fmt: skip
def test_an_example_is_a_call_that_can_be_read_and_has_what_is_required(schema: Any) -> None:
    asked = FunctionTool.__new__(FunctionTool)
    asked.input_schema = schema
    parser = ToolCallParser(["run"])
    [call] = [each.call for each in parser.feed(example_call("ask", asked, "run")) if each.call]
    assert (call.name, call.error, call.findings) == ("ask", None, [])
    assert set(call.arguments or {}) == set(schema["properties"])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["type", "properties", "required", "$ref", "enum", "anyOf", "$defs", "x"]),
        inner,
    ),
)  # fmt: skip


@given(JSON)
def test_an_example_can_be_made_of_any_schema(schema: Any) -> None:
    asked = FunctionTool.__new__(FunctionTool)
    asked.input_schema = schema
    assert example_call("ask", asked, "run").startswith('<run>{"tool_name": "ask"')
