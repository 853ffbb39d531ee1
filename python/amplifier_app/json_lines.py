"""The events of a session as JSON lines, for programs."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, cast

from amplifier_app.notice import notice

_DEEPEST = 400
"""Nesting after which a value is written as text: it keeps clear of Python's recursion limit."""

_LARGEST_BITS = 14_000
"""Integers from here on are written in hexadecimal: Python refuses to write their digits."""

_SURROGATE = re.compile("[\ud800-\udfff]")


class JsonLines:
    """Writes `{"event": …, "data": …}` lines, each handed over at once.

    The lines are ASCII: what a terminal or a line splitter would act on is escaped.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._on_failure: Callable[[], object] | None = None
        self.failure: OSError | None = None
        """Why nothing more can be written, if so."""

    def call_on_failure(self, act: Callable[[], object]) -> None:
        """Call this as soon as nothing more can be written."""
        self._on_failure = act

    def handle(self, event: str, data: object) -> None:
        """Write one event."""
        if self.failure is not None:
            return
        try:
            self._file.write(json_line(event, data))
            self._file.flush()
        except OSError as error:
            # Kept for the command: a hook's exception would only be logged.
            self.failure = error
            if self._on_failure is not None:
                self._on_failure()

    def show_message(self, message: str, level: str = "info", source: str = "hook") -> None:
        """Show a message of a hook (the kernel's display system)."""
        notice(f"{level}: {message} ({source})")

    def answer(self, text: str) -> None:
        """Write the last line."""
        self.handle("answer", {"text": text})

    def break_line(self) -> None:
        """Nothing: each line is whole."""

    def finish(self) -> None:
        """Nothing: each line is handed over already."""


def json_line(event: str, data: object) -> bytes:
    """One line, newline included."""
    line = {"event": _text(event), "data": json_value(data)}
    return json.dumps(line, allow_nan=False).encode("ascii") + b"\n"


def json_value(value: object, depth: int = 0) -> Any:
    """What JSON can hold of a value.

    NaN and infinity become null, surrogates U+FFFD, and whatever else JSON does not know its
    text.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if value.bit_length() < _LARGEST_BITS else hex(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth < _DEEPEST:
        if isinstance(value, Mapping):
            items = cast("Mapping[object, object]", value).items()
            return {_key(key): json_value(each, depth + 1) for key, each in items}
        if isinstance(value, list | tuple):
            values = cast("list[object]", value)
            return [json_value(each, depth + 1) for each in values]
    try:
        return _text(str(value))
    except Exception:  # noqa: BLE001 - any object may fail to say what it is
        return type(value).__name__


def _key(key: object) -> str:
    if isinstance(key, str):
        return _text(key)
    value = json_value(key, _DEEPEST)
    return value if isinstance(value, str) else json.dumps(value)


def _text(text: str) -> str:
    return str(text) if text.isascii() else _SURROGATE.sub("\ufffd", text)
