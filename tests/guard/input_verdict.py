"""Whether what a policy did with an input is what its row expects."""

from __future__ import annotations

import unicodedata
from typing import Any

from input_rows import Row
from surfaces import Passed, Surface

_PART = 8
"""Of a secret, as many characters in a row must not be left."""

_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and marks that nothing is seen of, though Unicode does not call them formats."""


def verdict(row: Row, surface: Surface) -> str | None:
    """Return what is wrong, or None where the row is handled as it expects."""
    try:
        passed = surface.run(row.input, row.setup)
    except surface.refusals as error:
        return _of_refusal(row, error)
    if row.expected == "reject":
        return f"it passed, as {_shown(passed.output)}"
    if row.expected == "allow":
        if passed.output != passed.unchanged:
            return f"it was changed into {_shown(passed.output)}"
        return None
    return _of_sanitized(row, passed)


def _of_refusal(row: Row, error: Exception) -> str | None:
    if row.expected != "reject":
        return f"it was refused: {type(error).__name__}: {error}"
    if isinstance(error, FileNotFoundError):
        return f"nothing was decided: {error}"
    if odd := [character for character in str(error) if _is_hidden(character)]:
        return f"the refusal shows {odd[0]!r} raw: {_shown(str(error))}"
    return None


def _of_sanitized(row: Row, passed: Passed) -> str | None:
    if "secret" in row.setup:
        secret: str = row.setup["secret"]
        parts = (secret[start : start + _PART] for start in range(max(1, len(secret) - _PART + 1)))
        left = next((part for part in parts if part in passed.output), None)
        return left and f"of the secret, `{left}` is left in {_shown(passed.output)}"
    if passed.output == passed.unchanged:
        return "it passed unchanged"
    odd = [character for character in passed.output if _is_hidden(character)]
    return f"{odd[0]!r} is left in {_shown(passed.output)}" if odd else None


def _is_hidden(character: str) -> bool:
    """Whether a terminal acts on a character, or nobody sees it."""
    if character in "\n\t":
        return False
    category = unicodedata.category(character)
    return (
        category in {"Cc", "Cf", "Cs", "Zl", "Zp"}
        or character in _BIDI
        or character in _BLANK
        or "\ufe00" <= character <= "\ufe0f"
        or "\u180b" <= character <= "\u180f"
        or "\U000e0000" <= character <= "\U000e0fff"
    )


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:300]}…"
