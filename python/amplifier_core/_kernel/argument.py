"""Arguments of the pure-Python classes, refused with the same errors as in Rust."""

from __future__ import annotations

from math import isfinite, isnan
from operator import index
from typing import TypeVar

_Error = TypeVar("_Error", bound=Exception)


def make_refusal(value: object, wanted: str, argument: str | None = None) -> TypeError:
    """Make the error for an argument of another type than is wanted."""
    found = "'None'" if value is None else f"'{type(value).__name__}' object"
    return name_argument(TypeError(f"{found} is not an instance of '{wanted}'"), argument)


def name_argument(error: _Error, argument: str | None) -> _Error:
    """Name the argument that an error is about in a note, as the errors of Rust do."""
    if argument is not None:
        error.add_note(f"while processing '{argument}'")
    return error


def take_text(value: object, argument: str | None = None) -> str:
    """Take a string that UTF-8 can encode.

    Raises:
        TypeError: It is not a string.
        UnicodeEncodeError: It holds a lone surrogate.
    """
    plain = any_text(value, argument)
    if not plain.isascii():
        try:
            plain.encode()
        except UnicodeEncodeError as error:
            name_argument(error, argument)
            raise
    return plain


def any_text(value: object, argument: str | None = None) -> str:
    """Take any string.

    Raises:
        TypeError: It is not a string.
    """
    if type(value) is str:
        return value
    if not isinstance(value, str):
        raise make_refusal(value, "str", argument)
    return str.__str__(value)


def take_flag(value: object, argument: str | None = None) -> bool:
    """Take a `bool`.

    Raises:
        TypeError: It is not a `bool`, even if it is truthy or falsy.
    """
    if not isinstance(value, bool):
        raise make_refusal(value, "bool", argument)
    return value


def take_integer(value: object, argument: str, *, bits: int) -> int:
    """Take a signed integer of at most `bits` bits.

    Raises:
        TypeError: It is not an integer.
        OverflowError: It is too large.
    """
    try:
        number = index(value)  # pyright: ignore[reportArgumentType] -- raises the wanted error
    except Exception as error:
        name_argument(error, argument)
        raise
    if not -(1 << 63) <= number < 1 << 63:
        raise name_argument(OverflowError("Python int too large to convert to C long"), argument)
    if not -(1 << bits - 1) <= number < 1 << bits - 1:
        message = "out of range integral type conversion attempted"
        raise name_argument(OverflowError(message), argument)
    return number


def time_limit(value: object) -> float | None:
    """Take a number of seconds; None and infinity are no limit.

    Raises:
        TypeError: It is not a number.
        ValueError: It is negative or not a number.
    """
    if value is None:
        return None
    if not isinstance(value, int | float):
        found = type(value).__name__
        message = f"`timeout` must be a number of seconds or None, not `{found}`"
        raise name_argument(TypeError(message), "timeout")
    try:
        seconds = float(value)
    except Exception as error:
        name_argument(error, "timeout")
        raise
    if isnan(seconds) or seconds < 0:
        shown = "NaN" if isnan(seconds) else f"{seconds:g}"
        message = f"`timeout` must be None or at least 0 seconds, not {shown}"
        raise name_argument(ValueError(message), "timeout")
    return seconds if isfinite(seconds) else None
