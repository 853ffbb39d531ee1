"""One text for each JSON value: that of RFC 8785, the JSON Canonicalization Scheme.

Names are sorted by their UTF-16 code units, numbers are written as ECMAScript writes them, strings
with the fewest escapes, nothing is set apart by blanks, and the result is UTF-8. Integers beyond 2^53,
which the scheme cannot write exactly, have all their digits here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, cast

_LONGEST_PLAIN = 21
"""Digits before the point from which on ECMAScript writes an exponent."""
_SMALLEST_PLAIN = -6
"""Zeros behind the point from which on it does."""


def canonical_json(value: Any) -> bytes:
    """Return the only text of a JSON value.

    Args:
        value: Mappings, lists, tuples, texts, numbers, booleans, None.

    Raises:
        TypeError: It has something else.
        ValueError: A number is not finite, or a text has a lone surrogate.
    """
    return "".join(_write_value(value)).encode()


def _write_value(value: Any) -> Iterator[str]:
    if value is None or isinstance(value, bool | str):
        yield json.dumps(value, ensure_ascii=False)
    elif isinstance(value, int):
        yield str(int(value))
    elif isinstance(value, float):
        yield _write_number(value)
    elif isinstance(value, Mapping):
        yield from _write_object(cast("Mapping[Any, Any]", value))
    elif isinstance(value, list | tuple):
        separator = "["
        for item in cast("list[Any]", value):
            yield separator
            yield from _write_value(item)
            separator = ","
        yield "[]" if separator == "[" else "]"
    else:
        raise TypeError(f"a `{type(value).__name__}` has no place in JSON")


def _write_object(value: Mapping[Any, Any]) -> Iterator[str]:
    for name in value:
        if not isinstance(name, str):
            raise TypeError(f"the names of JSON are texts, not `{type(name).__name__}`")
    separator = "{"
    for name in sorted(value, key=_code_units):
        yield separator
        yield json.dumps(name, ensure_ascii=False)
        yield ":"
        yield from _write_value(value[name])
        separator = ","
    yield "{}" if separator == "{" else "}"


def _code_units(name: str) -> bytes:
    return name.encode("utf-16-be", "surrogatepass")


def _write_number(number: float) -> str:
    """Write a number as ECMAScript does: the fewest digits that tell it from all others."""
    if not math.isfinite(number):
        raise ValueError(f"JSON has no number `{number}`")
    if number == 0:
        return "0"
    sign = "-" if number < 0 else ""
    mantissa, _, exponent = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    # The point stands behind so many of the digits.
    point = int(exponent or 0) + len(whole) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= _LONGEST_PLAIN:
        return sign + digits + "0" * (point - count)
    if 0 < point <= _LONGEST_PLAIN:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if _SMALLEST_PLAIN < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if count > 1 else ""
    return f"{sign}{digits[0]}{tail}e{point - 1:+d}"
