"""The verdict in the answer of a judge, in whatever form it comes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

_READ_CHARS = 8_000
"""Of a longer answer the end is read: what a model decides comes last."""
_MOST_OBJECTS = 200
_REASON_CHARS = 1_000

_KEYS = (
    "reached",
    "goal_reached",
    "is_reached",
    "achieved",
    "done",
    "complete",
    "completed",
    "met",
)
_REASONS = ("reason", "explanation", "why", "rationale")
_WORDS = {
    "true": True, "yes": True, "reached": True, "achieved": True, "done": True, "complete": True,
    "false": False, "no": False, "not reached": False, "not yet": False, "not achieved": False,
    "not done": False, "not complete": False, "incomplete": False, "unreached": False,
}  # fmt: skip
_ANY_WORD = "|".join(sorted(_WORDS, key=len, reverse=True))
_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_FIELD = re.compile(
    rf"\b(?:{'|'.join(_KEYS)})\b[\"'*`]*\s*[:=][\s\"'*`]*({_ANY_WORD})\b", re.IGNORECASE
)
_REASON_FIELD = re.compile(
    rf"\b(?:{'|'.join(_REASONS)})\b[\"'*`]*\s*[:=][ \t\"'*`]*([^\n]+)", re.IGNORECASE
)
_PLAIN = re.compile(rf"[\s\"'*`_#>-]*({_ANY_WORD})\b(.*)", re.IGNORECASE | re.DOTALL)
_MARKS = " \t\r\n\"'*`_.,:;!-{}\u2013\u2014"


@dataclass(frozen=True)
class Judgement:
    """What a judge said."""

    reached: bool
    reason: str


def read_judgement(text: str) -> Judgement | None:
    """Return the verdict in an answer; None if there is none.

    It may be JSON, alone or in prose or a fence; fields such as `reached: no`; or a plain yes or no
    at the beginning, or in the last line. Of several objects the last counts.
    """
    text = _THOUGHT.sub("", text[-_READ_CHARS:]).strip()
    for read in (_from_json, _from_fields, _from_words):
        if (found := read(text)) is not None:
            return found
    return None


def _from_json(text: str) -> Judgement | None:
    found: Judgement | None = None
    for each in _objects(text):
        values = {key.lower(): value for key, value in each.items()}
        reached = next((_boolean(values[key]) for key in _KEYS if key in values), None)
        if reached is not None:
            reasons = (values.get(key) for key in _REASONS)
            reason = next((value for value in reasons if isinstance(value, str)), "")
            found = Judgement(reached, _clean_reason(reason))
    return found


def _objects(text: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder()
    place = 0
    for _ in range(_MOST_OBJECTS):
        place = text.find("{", place)
        if place < 0:
            return
        try:
            value, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            place += 1
        else:
            yield cast("dict[str, Any]", value)


def _boolean(value: Any) -> bool | None:
    if isinstance(value, str):
        return _WORDS.get(value.strip(_MARKS).lower())
    return value if isinstance(value, bool) else None


def _from_fields(text: str) -> Judgement | None:
    words: list[str] = _FIELD.findall(text)
    if not words:
        return None
    reason = _REASON_FIELD.search(text)
    return Judgement(_WORDS[words[-1].lower()], _clean_reason(reason[1] if reason else ""))


def _from_words(text: str) -> Judgement | None:
    lines = [line for line in text.splitlines() if line.strip(_MARKS)]
    for part, before in ((text, ""), (lines[-1] if lines else "", "\n".join(lines[:-1]))):
        if found := _PLAIN.match(part):
            return Judgement(
                _WORDS[found[1].lower()], _clean_reason(found[2]) or _clean_reason(before)
            )
    return None


def _clean_reason(reason: str) -> str:
    return " ".join(reason.split()).strip(_MARKS)[:_REASON_CHARS]
