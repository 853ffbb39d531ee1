"""The events of a session as JSON lines, for programs."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import BinaryIO, TypeGuard, cast

from pydantic_core import PydanticSerializationError, to_json

from amplifier_app.notice import show_notice

_MAX_DEPTH = 200
"""Nesting after which a value is written as text; `to_json` has a limit of its own above it."""

_LONG_CHARS = 1 << 16
"""A longer text is written in pieces."""

_MAX_INTEGER_BITS = 14_000
"""Integers from here on are written in hexadecimal: Python refuses to read or write their digits."""

_LONG_NUMBER = re.compile(rb"(?<!\d)\d{4200}")
_SURROGATE = re.compile("[\ud800-\udfff]")


class JsonLines:
    """Writes `{"event": …, "data": …}` lines and flushes each.

    The lines are ASCII: what a terminal or a line splitter would act on is escaped. NaN and
    infinity become null, lone surrogates U+FFFD, and what JSON has no form for its text.
    """

    shows_blocks = True

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
            for part in _line_parts(event, data):
                self._file.write(part)
            self._file.flush()
        except OSError as error:
            # Kept for the command: an exception in a handler would only be logged.
            self.failure = error
            if self._on_failure is not None:
                self._on_failure()

    def show_message(self, message: str, level: str = "info", source: str = "hook") -> None:
        """Show a message of a hook (the kernel's display system)."""
        show_notice(f"{level}: {message} ({source})")

    def answer(self, text: str) -> None:
        """Write the last line."""
        self.handle("answer", {"text": text})

    def break_line(self) -> None:
        """Do nothing: each line is complete."""

    def hold(self) -> None:
        """Do nothing: programs read on."""

    def release(self) -> None:
        """Do nothing: nothing was held."""

    def finish(self) -> None:
        """Do nothing: each line is flushed already."""


def json_line(event: str, data: object) -> bytes:
    """One line, newline included; it never fails."""
    return b"".join(_line_parts(event, data))


def _line_parts(event: str, data: object) -> Iterator[bytes]:
    yield b'{"event": %b, "data": ' % _write_value(event)
    if _is_long(data):
        yield from _write_parts(data)
    else:
        yield _write_value(data)
    yield b"}\n"


def _is_long(value: object, depth: int = 0) -> bool:
    """Whether a long text is somewhere in it."""
    if isinstance(value, str):
        return len(value) > _LONG_CHARS
    if depth < _MAX_DEPTH and isinstance(value, dict):
        values = cast("dict[object, object]", value).values()
        return any(_is_long(each, depth + 1) for each in values)
    if depth < _MAX_DEPTH and isinstance(value, list | tuple):
        return any(_is_long(each, depth + 1) for each in cast("list[object]", value))
    return False


def _write_parts(value: object, depth: int = 0) -> Iterator[bytes]:
    """The JSON of a value, a long text piece by piece: a line may hold it several times."""
    if isinstance(value, str) and len(value) > _LONG_CHARS:
        yield b'"'
        for start in range(0, len(value), _LONG_CHARS):
            yield _write_value(value[start : start + _LONG_CHARS])[1:-1]
        yield b'"'
    elif depth < _MAX_DEPTH and _has_text_keys(value):
        for index, (key, each) in enumerate(value.items()):
            yield b"%b%b:" % (b"," if index else b"{", _write_value(key))
            yield from _write_parts(each, depth + 1)
        yield b"}" if value else b"{}"
    elif depth < _MAX_DEPTH and isinstance(value, list | tuple) and value:
        for index, each in enumerate(cast("list[object]", value)):
            yield b"," if index else b"["
            yield from _write_parts(each, depth + 1)
        yield b"]"
    else:
        yield _write_value(cast("object", value))


def _has_text_keys(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict) and all(
        isinstance(key, str) for key in cast("dict[object, object]", value)
    )


def _write_value(value: object) -> bytes:
    with contextlib.suppress(PydanticSerializationError):
        written = _write_json(value)
        if not _LONG_NUMBER.search(written):
            return written
    return _write_json(_make_readable(value))


def _write_json(value: object) -> bytes:
    written = to_json(
        value,
        ensure_ascii=True,
        inf_nan_mode="null",
        serialize_unknown=True,
        fallback=_write_text,
    )
    return written.replace(b"\x7f", b"\\u007f")  # ASCII, but some terminals act on it


def _make_readable(value: object, depth: int = 0) -> object:
    """The value without what `to_json` refuses, or writes so that Python cannot read it back.

    These are lone surrogates, bytes that are not UTF-8, and integers of too many digits.
    """
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, int) and value.bit_length() >= _MAX_INTEGER_BITS:
        return hex(value)
    if value is None or isinstance(value, int | float):
        return value
    if depth < _MAX_DEPTH and isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value).items()
        return {
            _make_readable(key, _MAX_DEPTH): _make_readable(each, depth + 1) for key, each in items
        }
    if depth < _MAX_DEPTH and isinstance(value, list | tuple):
        return [_make_readable(each, depth + 1) for each in cast("list[object]", value)]
    return _SURROGATE.sub("\ufffd", _write_text(value))


def _write_text(value: object) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - any object may fail to say what it is
        return type(value).__name__
