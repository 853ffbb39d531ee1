"""Opaque JSON: the engine reads and writes what pydantic-core reads and writes."""

from __future__ import annotations

import json
import math
import random
import struct
from typing import Any

import pydantic_core
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core._engine import _read_json, _round_trip, _write_json
from amplifier_core.models import ToolResult

MAX_DEPTH = 200

texts = st.text(st.characters(exclude_categories=["Cs"]))
leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=-(10**60), max_value=10**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
values = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(texts, inner))


def canonical(value: Any) -> str:
    """The reference form."""
    return pydantic_core.to_json(value, inf_nan_mode="null").decode()


def read_by_both(text: bytes) -> tuple[Any, Any]:
    """What pydantic-core and the engine read, or the type of what they raise."""

    def outcome(read: Any) -> Any:
        try:
            return repr(read(text))
        except ValueError:
            return ValueError

    return outcome(lambda text: pydantic_core.from_json(text, allow_inf_nan=False)), outcome(
        _read_json
    )


# Holds: json-1
@given(values)
def test_both_sides_write_the_same_bytes_and_read_the_same_value(value: Any) -> None:
    text = canonical(value)

    assert _write_json(value) == text
    assert repr(_read_json(text.encode())) == repr(value)


# Holds: json-3
def test_100_000_random_numbers_and_strings_come_back_unchanged() -> None:
    chance = random.Random(8123)
    numbers: list[Any] = []
    while len(numbers) < 40_000:
        (number,) = struct.unpack("<d", chance.randbytes(8))
        if math.isfinite(number):
            numbers.append(number)
    integers = [chance.randint(-(10**digits), 10**digits) for digits in range(1, 301)] * 100
    alphabet = [*map(chr, range(0x250)), "\u2028", "\ufeff", "\uffff", "😀", "\U0010ffff"]
    strings = ["".join(chance.choices(alphabet, k=chance.randint(0, 12))) for _ in range(30_000)]
    sent = [*numbers, *integers, *strings]
    assert len(sent) == 100_000

    text = canonical(sent)

    assert _write_json(sent) == text
    assert _write_json(_read_json(text.encode())) == text
    assert list(map(repr, _read_json(text.encode()))) == list(map(repr, sent))
    whole = ToolResult(output=sent).model_dump_json()
    assert _round_trip("ToolResult", whole.encode()) == whole
    assert ToolResult.model_validate_json(_round_trip("ToolResult", whole.encode())).output == sent


# Holds: json-5
@given(st.binary() | st.text().map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_read_alike(text: bytes) -> None:
    theirs, ours = read_by_both(text)

    assert ours == theirs


@given(values.map(json.dumps), st.data())
def test_damaged_json_is_judged_alike(text: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(cut, len(text)))
    piece = data.draw(st.sampled_from(["", ",", ":", '"', "]", "}", "0", "-", ".", "e", "\\", " "]))
    damaged = (text[:cut] + piece + text[end:]).encode()

    theirs, ours = read_by_both(damaged)

    assert ours == theirs


# Holds: json-3, json-5
@pytest.mark.parametrize(
    "text",
    [
        "NaN",
        "-Infinity",
        '"\\ud800"',
        '"\\ud800\\u0041"',
        '"\\ud83d\\ude00"',
        '{"a":1,"b":2,"a":3}',
        "-0",
        "-0.0",
        "1E400",
        "1e-400",
        "01",
        "1.",
        ".5",
        "1e",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775809",
        "9" * 4300,
        "9" * 4301,
        "-" + "9" * 4300,
        "9" * 5000 + ".5",
        *(
            opening * depth + inner + closing * depth
            for opening, closing in [("[", "]"), ('{"a":', "}")]
            for depth in [MAX_DEPTH, MAX_DEPTH + 1]
            for inner in ["1", "[]", "{}"]
        ),
        "[" * 100_000,
        "\ufeff1",
        "1 2",
        "",
    ],
    ids=lambda text: text[:12] or "empty",
)
def test_the_edges_are_the_same(text: str) -> None:
    theirs, ours = read_by_both(text.encode())

    assert ours == theirs


# Holds: json-4
def test_nan_and_infinity_are_written_as_null() -> None:
    assert _write_json([math.nan, math.inf, -math.inf]) == "[null,null,null]"


# Holds: json-6
@pytest.mark.parametrize("value", ["\ud800", {"\udfff": 1}, ["a\udc00b"]])
def test_lone_surrogates_are_refused_by_both_writers(value: Any) -> None:
    with pytest.raises(UnicodeEncodeError):
        _write_json(value)
    with pytest.raises(pydantic_core.PydanticSerializationError):
        pydantic_core.to_json(value)


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def test_what_is_not_json_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="a value of type `object` is not JSON"):
        _write_json([object()])
    with pytest.raises(TypeError, match="a key must be a `str`, found `int`"):
        _write_json({1: 2})
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(ValueError, match="nested deeper than 200 levels or contains itself"):
        _write_json(circle)
    with pytest.raises(ValueError, match="nested deeper"):
        _write_json(nested(MAX_DEPTH + 1))
    assert _read_json(_write_json(nested(MAX_DEPTH)).encode()) == nested(MAX_DEPTH)


def test_an_error_says_where() -> None:
    with pytest.raises(ValueError, match=r"invalid JSON: .* at line 2 column 7"):
        _read_json(b'{"a": 1,\n "b": }')


def test_subclasses_are_written_as_what_they_are() -> None:
    class Loud(int):
        def __repr__(self) -> str:
            return "loud"

    assert _write_json([Loud(2**70), Loud(3), (1, 2), True]) == f"[{2**70},3,[1,2],true]"
