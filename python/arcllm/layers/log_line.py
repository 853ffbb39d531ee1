"""Values as one line of a log: no value can begin another line or control a terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_PLAIN = re.compile(r"[\w.:/@+-]+", re.ASCII)


class LogLine:
    """Values as one line, which is made only if a handler writes it.

    Args:
        values: The values, by their names.
        as_json: Whether the line is a JSON object, and not `key=value`.
    """

    __slots__ = ("_as_json", "_values")

    def __init__(self, values: Mapping[str, Any], *, as_json: bool = False) -> None:
        self._values = values
        self._as_json = as_json

    def __str__(self) -> str:
        """Write the line."""
        if self._as_json:
            return _write_json(self._values)
        return " ".join(f"{name}={_write_word(value)}" for name, value in self._values.items())


def _write_word(value: Any) -> str:
    """Write a value so that it stays one word on one line."""
    if isinstance(value, float):
        return f"{value:g}"
    text = value if isinstance(value, str) else _write_json(value)
    return text if _PLAIN.fullmatch(text) else _write_json(text)


def _write_json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if text.isprintable() else _make_visible(text)


def _make_visible(text: str) -> str:
    """Escape what JSON lets through although nobody sees it."""
    return "".join(
        each if each.isprintable() else json.dumps(each)[1:-1] if ord(each) > 0x7F else "\\u007f"
        for each in text
    )
