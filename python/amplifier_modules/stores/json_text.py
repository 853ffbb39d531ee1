r"""The texts of stored rows: plain JSON, with one escape for what JSON cannot hold.

    {"$json": "NaN"}                 a number that is none
    {"$json": "\"\\ud800\""}         a text with half of a pair of surrogates
    {"$json": "{\"$json\": 1}"}      an object that looks like an escape

The text of an escape is what Python's `json` writes of the value. Any parser of JSON reads a row;
`read_json` returns what was written. A text within a body that is longer than `LONG_CHARS` can be put aside:

    {"$blob": ["<hash>", "<hash>"]}  its parts, which are stored by their hashes
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, cast

from pydantic_core import from_json, to_json, to_jsonable_python

BLOB = "$blob"
"""The only key of an object that stands for the row's body, or for a text in it, stored by hashes."""
LONG_CHARS = 64 * 1024
"""A text that has more is put aside."""

_ESCAPE = "$json"
_MAX_DEPTH = 150
"""Arrays and objects inside of one another that a text has; deeper ones are escaped."""
_MARKS = b"NaN", b"Infinity", b'"$json"', b'"$blob"'
"""One is in the text of each value that needs an escape; some have one and need none."""
_PLAIN = frozenset((bool, int, type(None)))


PutAside = Callable[[str], Sequence[str] | None]
"""Stores a long text in parts, and returns their hashes; None if it cannot be stored so."""
FindPart = Callable[[str], str]
"""Returns the part of a long text that has a hash."""


def write_json(value: Any, put_aside: PutAside | None = None) -> str:
    """Return the text of a value; what is no JSON has the form that Pydantic gives it.

    Args:
        value: The value.
        put_aside: Stores the long texts in it; None to have them in the text.

    Raises:
        ValueError: A part of the value has no such form, contains itself or is too deep.
    """
    written = None
    if put_aside is None or not _has_long(value, 0):
        put_aside = None
        with suppress(ValueError):
            written = to_json(value, inf_nan_mode="constants")
    if written is not None and not any(mark in written for mark in _MARKS):
        return written.decode()
    try:
        return json.dumps(_escape(value, 0, put_aside), ensure_ascii=False, separators=(",", ":"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the value cannot be stored: {error}") from None


def read_json(text: str, find_part: FindPart | None = None) -> Any:
    """Return the value of a text that `write_json` has written.

    Args:
        text: The text.
        find_part: Finds the parts of long texts that were put aside; None where none were.

    Raises:
        ValueError: It is not such a text.
    """
    try:
        value = from_json(text, allow_inf_nan=False)
    except ValueError:
        # Python's own parser reads what is deeper.
        value = json.loads(text)
    has_parts = find_part is not None and '"$blob"' in text
    return _read_escapes(value, find_part) if has_parts or '"$json"' in text else value


def _has_long(value: Any, depth: int) -> bool:
    kind = cast("type[object]", type(value))
    if kind is str:
        return len(value) > LONG_CHARS
    if depth >= _MAX_DEPTH or kind not in (dict, list, tuple):
        return False
    parts: Iterable[Any] = value.values() if kind is dict else value
    return any(_has_long(each, depth + 1) for each in parts)


def _escape(value: Any, depth: int, put_aside: PutAside | None) -> Any:
    kind = cast("type[object]", type(value))
    if kind in _PLAIN:
        return value
    if kind is str:
        if put_aside is not None and len(value) > LONG_CHARS:
            hashes = put_aside(value)
            if hashes is not None:
                return {BLOB: hashes}
        return value if _is_encodable(value) else {_ESCAPE: json.dumps(value)}
    if kind is float:
        return value if abs(value) < float("inf") else {_ESCAPE: json.dumps(value)}
    if kind is list or kind is tuple:
        if depth >= _MAX_DEPTH:
            return {_ESCAPE: json.dumps(value, default=to_jsonable_python)}
        return [_escape(each, depth + 1, put_aside) for each in value]
    if kind is not dict:
        return _escape(to_jsonable_python(value, inf_nan_mode="constants"), depth, put_aside)
    named = {_name_key(key): each for key, each in cast("dict[Any, Any]", value).items()}
    is_escape = len(named) == 1 and not named.keys().isdisjoint((_ESCAPE, BLOB))
    if depth >= _MAX_DEPTH or is_escape or not all(map(_is_encodable, named)):
        return {_ESCAPE: json.dumps(named, default=to_jsonable_python)}
    return {key: _escape(each, depth + 1, put_aside) for key, each in named.items()}


def _name_key(key: Any) -> str:
    return key if type(key) is str else next(iter(to_jsonable_python({key: None})))


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _read_escapes(value: Any, find_part: FindPart | None) -> Any:
    if isinstance(value, list):
        return [_read_escapes(each, find_part) for each in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    found = cast("dict[str, Any]", value)
    if len(found) == 1 and isinstance(text := found.get(_ESCAPE), str):
        return json.loads(text)
    if len(found) == 1 and find_part is not None and isinstance(hashes := found.get(BLOB), list):
        return "".join(map(find_part, cast("list[str]", hashes)))
    return {key: _read_escapes(each, find_part) for key, each in found.items()}
