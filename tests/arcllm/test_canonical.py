"""One text for each JSON value."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcllm.layers.security import canonical_json


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (-1.5, "-1.5"),
        (333333333.33333329, "333333333.3333333"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1e30, "1e+30"),
        (4.5, "4.5"),
        (2e-3, "0.002"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (1e-27, "1e-27"),
        (1.2345e-10, "1.2345e-10"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (9007199254740994.0, "9007199254740994"),
        (3.821834767848979e16, "38218347678489790"),
        (2**64, "18446744073709551616"),
    ],
)
def test_numbers_are_written_as_ecmascript_does(number: float, written: str) -> None:
    assert canonical_json(number) == written.encode()


def test_names_are_sorted_by_code_units_and_texts_have_few_escapes() -> None:
    value = {"\ufb33": 1, "\U0001f600": 2, "€": 3, "\r": 'a\u0007\n"\\/\u007f', "1": [[], {}, None]}

    assert (
        canonical_json(value)
        == (
            '{"\\r":"a\\u0007\\n\\"\\\\/\u007f","1":[[],{},null],"€":3,"\U0001f600":2,"\ufb33":1}'
        ).encode()
    )


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, "\ud800", {"a": "\udfff"}, {1: 2}, {"a": object()}, b"x"]
)
def test_what_is_no_json_is_an_error(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        canonical_json(value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-1e15, 1e15)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda values: st.lists(values) | st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"])), values
    ),
    max_leaves=10,
)  # fmt: skip


@given(JSON)
def test_it_reads_as_the_same_value(value: Any) -> None:
    assert json.loads(canonical_json(value)) == value


@given(st.dictionaries(st.text(max_size=3), st.integers(), max_size=4))
def test_the_order_of_names_does_not_matter(value: dict[str, int]) -> None:
    turned = dict(reversed(value.items()))

    def written(each: dict[str, int]) -> bytes | None:
        try:
            return canonical_json(each)
        except ValueError:
            return None

    assert written(turned) == written(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_read_as_the_same_number(number: float) -> None:
    assert float(canonical_json(number)) == number
