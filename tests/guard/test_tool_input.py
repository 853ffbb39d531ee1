"""No tool runs with arguments that its own schema does not allow."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_line import is_plain_line
from pydantic import TypeAdapter

from amplifier_guard import (
    GuardError,
    NameDenied,
    ToolInputDenied,
    ToolInputPolicy,
    ToolSchemaDenied,
    check_tool_name,
)

SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "n": {"type": "integer", "maximum": 100}},
    "required": ["path"],
    "additionalProperties": False,
}


def policy(schema: Any = SCHEMA) -> ToolInputPolicy:
    made = ToolInputPolicy()
    assert made.set_schema("read", schema)
    return made


def test_arguments_that_fit_come_back_as_they_were_written() -> None:
    assert policy().check_json("read", '{"path": "é", "n": 1}') == {"path": "é", "n": 1}
    assert policy({}).check_json("read", b'{"n": 123456789012345678901234567890}') == {
        "n": 123456789012345678901234567890
    }
    policy().check("read", {"path": "x"})
    policy().check("read", MappingProxyType({"path": "x"}))


@pytest.mark.parametrize(
    ("arguments", "pointer", "said"),
    [
        ({"path": "x", "n": 101}, "/n", "argument `/n` of `read` must be at most 100, found `101`"),
        ({}, "", "the arguments of `read` must have `path`, found none"),
        ({"path": "x", "m": 1}, "/m", "argument `/m` of `read` must be absent, found `1`"),
        ({"path": float("nan")}, "/path", "argument `/path` of `read` must be a finite number, found `NaN`"),
        ({"path": b""}, "", "the arguments of `read` are not JSON: a value of type `bytes` is not JSON"),
        ({1: 2}, "", "the arguments of `read` are not JSON: a key must be a `str`, found `int`"),
        ([], "", "the arguments of `read` must be an object, found an array of 0"),
    ],
)  # fmt: skip
def test_a_refusal_says_where_and_what(arguments: Any, pointer: str, said: str) -> None:
    with pytest.raises(ToolInputDenied) as refusal:
        policy().check("read", arguments)
    assert (str(refusal.value), refusal.value.tool, refusal.value.pointer) == (
        said,
        "read",
        pointer,
    )
    assert isinstance(refusal.value, GuardError)


def test_what_holds_itself_or_half_a_character_is_refused() -> None:
    endless: dict[str, Any] = {}
    endless["path"] = endless
    for arguments in (endless, {"path": "\ud800"}):
        with pytest.raises(ToolInputDenied, match="are not JSON"):
            policy().check("read", arguments)
    for text in ('{"path": "\ud800"}', b'{"path": "\xff"}', '{"path": "x"'):
        with pytest.raises(ToolInputDenied, match="are invalid JSON"):
            policy().check_json("read", text)


def test_an_unknown_tool_runs_with_nothing() -> None:
    made = policy()
    with pytest.raises(ToolInputDenied, match="unknown tool `write`"):
        made.check("write", {})
    assert made.tools == ["read"]
    assert made.remove("read")
    assert not made.remove("read")
    with pytest.raises(ToolInputDenied):
        made.check_json("read", '{"path": "x"}')


def test_a_schema_is_taken_once_until_it_changes() -> None:
    made = policy()
    assert not made.set_schema("read", dict(SCHEMA))
    assert made.set_schema("read", {})
    made.check("read", {})


# Holds: input-8
@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "file:///etc/passwd"},
        {"properties": {"a": {"type": "nothing"}}},
        {"pattern": "(?=a)"},
        {"const": float("inf")},
        {"const": {1, 2}},
        [],
    ],
)
def test_a_schema_that_cannot_be_used_is_refused(schema: Any) -> None:
    with pytest.raises(ToolSchemaDenied) as refusal:
        ToolInputPolicy().set_schema("read", schema)
    assert refusal.value.tool == "read"
    assert isinstance(refusal.value, GuardError)


def test_settings_must_be_at_least_one() -> None:
    with pytest.raises(ValueError, match="`max_tools` must be at least 1, found `0`"):
        ToolInputPolicy(max_tools=0)


# Holds: input-9
def test_a_name_that_could_be_taken_for_another_one_is_refused() -> None:
    check_tool_name("mcp__server-1__get.item")
    for name in ("r\u0435ad_file", "read\u200b", "read file", "", "\ud800", "a" * 101):
        with pytest.raises(NameDenied):
            check_tool_name(name)
    with pytest.raises(NameDenied, match=r"contains U\+0435 at character 1: only ASCII letters"):
        check_tool_name("r\u0435ad_file")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


def test_a_deep_schema_that_refers_back_to_itself_takes_no_deep_arguments() -> None:
    schema: dict[str, Any] = {"properties": {"x": {"$ref": "#"}}, "type": "object"}
    for _ in range(90):
        schema = {"anyOf": [schema]}
    arguments: dict[str, Any] = {}
    for _ in range(21):
        arguments = {"x": arguments}
    made = policy(schema)
    made.check("read", arguments)
    deeper = "at most 22 arrays and objects, as its schema has 183 levels, found `x`"
    for _ in range(2):
        arguments = {"x": arguments}
    with pytest.raises(ToolInputDenied, match=deeper):
        made.check("read", arguments)


# Holds: input-7
@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_any_json_object_passes_an_open_schema_unchanged(arguments: dict[str, Any]) -> None:
    made = policy({})
    made.check("read", arguments)
    assert made.check_json("read", json.dumps(arguments)) == arguments


# Holds: input-6
@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), JSON, max_size=3))
def test_arguments_pass_as_pydantic_s_own_schema_has_it(arguments: dict[str, Any]) -> None:
    model = TypeAdapter(dict[str, int | str | list[bool] | None])
    expected = model.validator.isinstance_python(arguments, strict=True)
    try:
        policy(model.json_schema()).check("read", arguments)
    except ToolInputDenied:
        assert not expected
    else:
        # JSON knows 1 and 1.0 as the same integer.
        whole = [v for v in arguments.values() if isinstance(v, float) and v.is_integer()]
        assert expected or whole


@given(st.text() | st.binary())
def test_no_text_is_anything_but_read_or_refused(text: str | bytes) -> None:
    said = ""
    try:
        policy({}).check_json("read", text)
    except ToolInputDenied as refusal:
        said = str(refusal)
    assert is_plain_line(said)
