"""Each shared type writes byte-identical JSON as a Pydantic model and as a Rust type."""

from __future__ import annotations

import datetime as dt
import functools
import json
import types
import typing
from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Any, Literal, Union

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter

from amplifier_core import _engine, content_models, message_models
from amplifier_core._engine import _round_trip, _shared_types
from amplifier_guard import claude

PythonType = Callable[[str], Any]
SHAPES = _shared_types()
RECORDS = [name for name, (shape, _) in SHAPES.items() if shape == "record"]
UNIONS = [name for name, (shape, _) in SHAPES.items() if shape == "union"]
WORDS = [name for name, (shape, _) in SHAPES.items() if shape == "words"]

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
opaque = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=-(10**40), max_value=10**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)
IMAGE = {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}
SPECIAL: dict[tuple[str, str], st.SearchStrategy[Any]] = {
    ("Pricing", "currency"): st.from_regex(r"[A-Z]{3}", fullmatch=True),
    ("ApprovalRequest", "timeout"): st.none() | st.floats(1e-3, 1e9),
    ("UnknownBlock", "type"): texts.filter(
        lambda text: text not in message_models.KNOWN_BLOCK_TYPES | claude.KNOWN_BLOCK_TYPES
    ),
    ("ToolResult", "content"): st.none()
    | st.lists(
        st.builds(lambda text: {"type": "text", "text": text}, texts)
        | st.just({"type": "image", "source": IMAGE}),
        max_size=3,
    ),
}
zones = st.none() | st.builds(
    lambda minutes: dt.timezone(dt.timedelta(minutes=minutes)), st.integers(-1439, 1439)
)


few = settings(max_examples=settings().max_examples // 4)
"""For tests that run once for each type."""


def values_of(annotation: Any) -> st.SearchStrategy[Any]:
    """Raw values that a field of this annotation accepts."""
    origin = typing.get_origin(annotation)
    arguments = typing.get_args(annotation)
    if origin is Annotated:
        return values_of(arguments[0])
    if origin in (Union, types.UnionType):
        return st.one_of([values_of(argument) for argument in arguments])
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is list:
        return st.lists(st.deferred(lambda: values_of(arguments[0])), max_size=3)
    if origin is dict:
        return st.dictionaries(texts, values_of(arguments[1]), max_size=3)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return records(annotation)
    return {
        str: texts,
        bool: st.booleans(),
        int: st.integers(-(2**63), 2**63 - 1),
        float: st.floats(allow_nan=False, allow_infinity=False),
        type(None): st.none(),
        Any: opaque,
        Decimal: st.decimals(allow_nan=False, allow_infinity=False),
        dt.datetime: st.datetimes(timezones=zones),
    }[annotation]


@functools.cache  # to make it takes longer than to draw from it
def records(model: type[BaseModel]) -> st.SearchStrategy[dict[str, Any]]:
    """Input for a model: required fields, some of the others, and unknown keys."""
    required: dict[str, st.SearchStrategy[Any]] = {}
    optional: dict[str, st.SearchStrategy[Any]] = {}
    for name, field in model.model_fields.items():
        special = SPECIAL.get((model.__name__, name))
        values = special if special is not None else values_of(field.annotation)
        # A block without its type is no block.
        fields = required if field.is_required() or name == "type" else optional
        fields[name] = values
    known = st.fixed_dictionaries(required, optional=optional)
    unknown = st.dictionaries(texts.filter(lambda key: key not in model.model_fields), opaque)
    return st.builds(lambda known, unknown: {**unknown, **known}, known, unknown)


# Holds: json-1, differ-8
@pytest.mark.parametrize("name", RECORDS)
@few
@given(data=st.data())
def test_a_model_comes_back_from_rust_unchanged(
    name: str, python_type: PythonType, data: st.DataObject
) -> None:
    model = python_type(name)
    value = model.model_validate(data.draw(records(model)))
    text = value.model_dump_json()

    written = _round_trip(name, text.encode())

    assert written == text
    assert model.model_validate_json(written) == value


@pytest.mark.parametrize("name", UNIONS)
@few
@given(data=st.data())
def test_a_union_comes_back_from_rust_unchanged(
    name: str, python_type: PythonType, data: st.DataObject
) -> None:
    union = python_type(name)
    adapter = TypeAdapter[Any](union)
    value = adapter.validate_python(data.draw(values_of(union)))
    text = adapter.dump_json(value).decode()

    written = _round_trip(name, text.encode())

    assert written == text
    assert adapter.validate_json(written) == value


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_has_the_same_fields_in_the_same_order_on_both_sides(
    name: str, python_type: PythonType
) -> None:
    assert SHAPES[name] == ("record", list(python_type(name).model_fields))


@pytest.mark.parametrize("name", WORDS)
def test_an_enum_has_the_same_words_on_both_sides(name: str, python_type: PythonType) -> None:
    words = python_type(name)
    if isinstance(words, type) and issubclass(words, content_models.Enum):
        expected = [member.value for member in words]
    else:
        expected = list(typing.get_args(words))

    assert SHAPES[name] == ("words", expected)
    for word in expected:
        assert _round_trip(name, f'"{word}"'.encode()) == f'"{word}"'
    with pytest.raises(ValueError, match=r'must be one of `.*`, found `"other"`'):
        _round_trip(name, b'"other"')


# Holds: differ-1
def test_blocks_of_unknown_types_survive_in_messages() -> None:
    content = [
        {"type": "audio", "data": "UklGRg==", "nested": {"z": [2**80, 1e16], "a": None}},
        {"type": "text", "text": "hé", "cache_control": {"type": "ephemeral"}},
    ]
    message = message_models.Message.model_validate(
        {"role": "user", "content": content, "timestamp": "now"}
    )
    text = message.model_dump_json()

    assert _round_trip("Message", text.encode()) == text
    assert message.model_dump()["content"] == [
        content[0],
        {
            "type": "text",
            "text": "hé",
            "visibility": None,
            "cache_control": {"type": "ephemeral"},
        },
    ]
    assert message.model_dump()["timestamp"] == "now"


unknown_keys = st.dictionaries(
    texts.filter(lambda key: key not in ("type", "role", "content")), opaque, max_size=4
)
blocks_from_elsewhere = st.builds(
    lambda kind, entries: {"type": kind, **entries}, SPECIAL["UnknownBlock", "type"], unknown_keys
)
text_blocks = st.builds(
    lambda entries, text: {**entries, "type": "text", "text": text, "visibility": None},
    unknown_keys,
    texts,
)
messages_from_elsewhere = st.builds(
    lambda entries, content: {
        **dict.fromkeys(["name", "tool_call_id", "metadata"]),
        **{key: entries[key] for key in entries.keys() - {"name", "tool_call_id", "metadata"}},
        "role": "user",
        "content": content,
    },
    unknown_keys,
    st.lists(blocks_from_elsewhere | text_blocks, max_size=4),
)


@given(message=messages_from_elsewhere)
def test_unknown_types_and_keys_survive_both_sides_unchanged(message: dict[str, Any]) -> None:
    text = json.dumps(message)
    written = message_models.Message.model_validate_json(text).model_dump_json()

    assert _round_trip("Message", text.encode()) == written
    assert json.loads(written) == message
    unknown = [key for key in message if key not in message_models.Message.model_fields]
    assert [key for key in json.loads(written) if key in unknown] == unknown


# Holds: json-9
@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("Message", '{"content": "x"}', "`Message.role` is missing"),
        (
            "Message",
            '{"role": "user", "content": [{"type": "text"}]}',
            r"`Message\.content\[0\]\.text` is missing",
        ),
        ("HookResult", '{"action": "stop"}', "`HookResult.action` must be one of `continue`"),
        ("HookResult", '{"approval_timeout": 1e999}', "must be a finite number"),
        ("ModelInfo", '{"id": 1}', "`ModelInfo.id` must be a string, found `1`"),
        (
            "Usage",
            '{"input_tokens": 9223372036854775808, "output_tokens": 0, "total_tokens": 0}',
            "must be an integer of 64 bits",
        ),
        (
            "Usage",
            '{"input_tokens": 1, "output_tokens": 0, "total_tokens": 0, "cost_usd": 0.5}',
            "`Usage.cost_usd` must be a decimal number as a string, found `0.5`",
        ),
        ("UnknownBlock", '{"type": "text"}', "a type that has no variant"),
        ("claude::UnknownBlock", '{"type": "tool_use"}', "a type that has no variant"),
        (
            "Pricing",
            '{"input_per_million": 1, "output_per_million": 2, "currency": "usd"}',
            "`Pricing.currency` must be three capital letters",
        ),
        (
            "ApprovalRequest",
            '{"tool_name": "rm", "action": "x", "risk_level": "high", "timeout": 0}',
            "`ApprovalRequest.timeout` must be a positive number or null",
        ),
        (
            "SessionStatus",
            '{"session_id": "s", "started_at": "2026-02-30T00:00:00"}',
            "`SessionStatus.started_at` must be a date and time",
        ),
        ("ToolResult", "[]", "`ToolResult` must be an object, found an array"),
        ("ToolResult", "{", "invalid JSON"),
    ],
)
def test_rust_refuses_what_pydantic_refuses(
    name: str, text: str, message: str, python_type: PythonType
) -> None:
    with pytest.raises(ValueError, match="validation error"):
        python_type(name).model_validate_json(text)
    with pytest.raises(ValueError, match=message):
        _round_trip(name, text.encode())


def test_an_unknown_shared_type_is_named() -> None:
    with pytest.raises(KeyError, match="unknown shared type `Massage`"):
        _engine._round_trip("Massage", b"{}")
