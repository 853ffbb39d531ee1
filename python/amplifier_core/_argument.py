"""Arguments of the pure-Python classes, refused in the words of the Rust ones."""

from __future__ import annotations

from math import isfinite, isnan
from operator import index


def refusal(value: object, wanted: str) -> TypeError:
    """Make the error for an argument of another type than is wanted."""
    found = "'None'" if value is None else f"'{type(value).__name__}' object"
    return TypeError(f"{found} is not an instance of '{wanted}'")


def text(value: object) -> str:
    """Take a text, a plain one that UTF-8 can hold.

    Raises:
        TypeError: It is none.
        UnicodeEncodeError: It holds a lone surrogate.
    """
    plain = any_text(value)
    if not plain.isascii():
        plain.encode()
    return plain


def any_text(value: object) -> str:
    """Take a text, whatever it holds.

    Raises:
        TypeError: It is none.
    """
    if type(value) is str:
        return value
    if not isinstance(value, str):
        raise refusal(value, "str")
    return str.__str__(value)


def flag(value: object) -> bool:
    """Take a `bool`.

    Raises:
        TypeError: It is none, though it may be true or false.
    """
    if not isinstance(value, bool):
        raise refusal(value, "bool")
    return value


def integer(value: object, *, bits: int) -> int:
    """Take a signed whole number of at most so many bits.

    Raises:
        TypeError: It is none.
        OverflowError: It is too large.
    """
    number = index(value)  # pyright: ignore[reportArgumentType] -- raises the wanted error
    if not -(1 << 63) <= number < 1 << 63:
        raise OverflowError("Python int too large to convert to C long")
    if not -(1 << bits - 1) <= number < 1 << bits - 1:
        raise OverflowError("out of range integral type conversion attempted")
    return number


def time_limit(value: object) -> float | None:
    """Take a number of seconds; None and infinity are no limit.

    Raises:
        TypeError: It is no number.
        ValueError: It is negative or not a number.
    """
    if value is None:
        return None
    if not isinstance(value, int | float):
        found = type(value).__name__
        raise TypeError(f"`timeout` must be a number of seconds or None, not `{found}`")
    seconds = float(value)
    if isnan(seconds) or seconds < 0:
        shown = "NaN" if isnan(seconds) else f"{seconds:g}"
        raise ValueError(f"`timeout` must be None or at least 0 seconds, not {shown}")
    return seconds if isfinite(seconds) else None
