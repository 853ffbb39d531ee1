r"""The texts of stored rows: plain JSON, with one escape for what JSON cannot hold.

    {"$json": "NaN"}                 a number that is none
    {"$json": "\"\\ud800\""}         a text with half of a pair of surrogates
    {"$json": "{\"$json\": 1}"}      an object that looks like an escape

The text of an escape is what Python's `json` writes of the value. Any parser of JSON reads a row;
`read_json` returns what was written.
"""

from __future__ import annotations

import json
from typing import Any, cast

from pydantic_core import from_json, to_json, to_jsonable_python

BLOB = "$blob"
"""The only key of an object that stands for the row's body, which is stored by its hash."""

_ESCAPE = "$json"
_MAX_DEPTH = 150
"""Arrays and objects inside of one another that a text has; deeper ones are escaped."""
_MARKS = b"NaN", b"Infinity", b'"$json"', b'"$blob"'
"""One is in the text of each value that needs an escape; some have one and need none."""
_PLAIN = frozenset((bool, int, type(None)))


def write_json(value: Any) -> str:
    """Return the text of a value; what is no JSON has the form that Pydantic gives it.

    Raises:
        ValueError: A part of the value has no such form, contains itself or is too deep.
    """
    try:
        written = to_json(value, inf_nan_mode="constants")
    except ValueError:
        written = None
    if written is not None and not any(mark in written for mark in _MARKS):
        return written.decode()
    try:
        return json.dumps(_escape(value, 0), ensure_ascii=False, separators=(",", ":"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the value cannot be stored: {error}") from None


def read_json(text: str) -> Any:
    """Return the value of a text that `write_json` has written.

    Raises:
        ValueError: It is not such a text.
    """
    try:
        value = from_json(text, allow_inf_nan=False)
    except ValueError:
        # Python's own parser reads what is deeper.
        value = json.loads(text)
    return _read_escapes(value) if '"$json"' in text else value


def _escape(value: Any, depth: int) -> Any:
    kind = cast("type[object]", type(value))
    if kind in _PLAIN:
        return value
    if kind is str:
        return value if _is_encodable(value) else {_ESCAPE: json.dumps(value)}
    if kind is float:
        return value if abs(value) < float("inf") else {_ESCAPE: json.dumps(value)}
    if kind is list or kind is tuple:
        if depth >= _MAX_DEPTH:
            return {_ESCAPE: json.dumps(value, default=to_jsonable_python)}
        return [_escape(each, depth + 1) for each in value]
    if kind is not dict:
        return _escape(to_jsonable_python(value, inf_nan_mode="constants"), depth)
    named = {_name_key(key): each for key, each in cast("dict[Any, Any]", value).items()}
    is_escape = len(named) == 1 and not named.keys().isdisjoint((_ESCAPE, BLOB))
    if depth >= _MAX_DEPTH or is_escape or not all(map(_is_encodable, named)):
        return {_ESCAPE: json.dumps(named, default=to_jsonable_python)}
    return {key: _escape(each, depth + 1) for key, each in named.items()}


def _name_key(key: Any) -> str:
    return key if type(key) is str else next(iter(to_jsonable_python({key: None})))


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _read_escapes(value: Any) -> Any:
    if isinstance(value, list):
        return [_read_escapes(each) for each in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    found = cast("dict[str, Any]", value)
    if len(found) == 1 and isinstance(text := found.get(_ESCAPE), str):
        return json.loads(text)
    return {key: _read_escapes(each) for key, each in found.items()}
