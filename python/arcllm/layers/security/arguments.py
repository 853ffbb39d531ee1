"""The arguments of a call as they arrive, without personal data: JSON stays JSON."""

from __future__ import annotations

import json
import re

from .cleaning import LEAST_NUMBER
from .detector import Detector

_OUTSIDE = re.compile(r'[^"0-9-]+')
_BARE_MARK = re.compile(r"\[REDACTED:[^]\"]*\]")
"""A number that was a secret, such as the value of `token`."""
_NUMBER = re.compile(r"-?[0-9][0-9.eE+-]*|-")
_PLAIN = re.compile(r'[^"\\]+')
_PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_HALF = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}(\\(u([dD]([c-fC-F][0-9a-fA-F]?)?)?)?)?$")
_ESCAPE = re.compile(r'\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])')
_CUT_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?$")
_SURROGATE = re.compile("[\ud800-\udfff]")
"""Without its other half, it has no place in a text but as an escape."""
_LONGEST_NUMBER = 64


class ArgumentStream:
    """Takes personal data out of the texts and numbers of one JSON text in chunks.

    A number that is personal data becomes a text. What is no JSON is passed on as it is.

    Args:
        detector: Finds personal data.
    """

    def __init__(self, detector: Detector) -> None:
        self._detector = detector
        self._text = detector.stream()
        self._is_text = False
        self._held: str = ""
        """What is not whole: an escape, a number."""
        self._types: dict[str, None] = {}

    def feed(self, chunk: str) -> str:
        """Take a chunk and return what can be shown by now."""
        self._held += chunk
        shown: list[str] = []
        while self._held:
            part = self._in_text() if self._is_text else self._take_outside()
            if part is None:
                break
            shown.append(part)
        return "".join(shown)

    def flush(self) -> str:
        """Return the rest of a text that ended early."""
        if self._is_text:
            rest = _encode_surrogates(self._text.flush()) + self._held
        else:
            rest = self._redact_number(self._held) if self._held else ""
        self._held, self._is_text = "", False
        return rest

    def types(self) -> tuple[str, ...]:
        """Return the types that were found by now."""
        return tuple(dict.fromkeys((*self._types, *self._text.types())))

    def _take_outside(self) -> str | None:
        """Take the next part that is not within a text; None if it is not whole."""
        if self._held.startswith('"'):
            self._held, self._is_text = self._held[1:], True
            return '"'
        if found := _OUTSIDE.match(self._held):
            self._held = self._held[found.end() :]
            return _BARE_MARK.sub(r'"\g<0>"', found.group())
        found = _NUMBER.match(self._held)
        end = len(self._held) if found is None else found.end()
        if end == len(self._held) < _LONGEST_NUMBER:
            return None
        number, self._held = self._held[:end], self._held[end:]
        return self._redact_number(number)

    def _in_text(self) -> str | None:
        """Take the next part of a text; None if it is not whole."""
        held = self._held
        if held.startswith('"'):
            self._held, self._is_text = held[1:], False
            return _encode_surrogates(self._text.flush()) + '"'
        if found := _PLAIN.match(held):
            text: str = found.group()
        elif _HALF.fullmatch(held) or _CUT_ESCAPE.fullmatch(held):
            return None
        elif found := _PAIR.match(held) or _ESCAPE.match(held):
            text = str(json.loads(f'"{found.group()}"'))
        else:
            # No escape of JSON, which ends the text that is looked at.
            self._held = held[1:]
            return _encode_surrogates(self._text.flush()) + held[0]
        self._held = held[found.end() :]
        return _encode_surrogates(self._text.feed(text))

    def _redact_number(self, number: str) -> str:
        digits = number.removeprefix("-")
        if not digits.isdigit() or len(digits) < len(str(LEAST_NUMBER)):
            return number
        without = self._detector.redact(number)
        if without == number:
            return number
        self._types.update(dict.fromkeys(self._detector.types(number)))
        return json.dumps(without, ensure_ascii=False)


def _encode_surrogates(text: str) -> str:
    written = json.dumps(text, ensure_ascii=False)[1:-1]
    return _SURROGATE.sub(lambda found: f"\\u{ord(found.group()):04x}", written)
