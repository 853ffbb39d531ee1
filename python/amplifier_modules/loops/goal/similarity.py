"""Whether two reasons say the same."""

from __future__ import annotations

import re

_WORD = re.compile(
    r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]|[^\W\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]+"
)
"""A word; a single character of the scripts that put no spaces between words."""


def are_alike(first: str, second: str, overlap: float) -> bool:
    """Whether two reasons share so much of their words, and all of their numbers.

    Numbers count by themselves, as "2 of 5 tests fail" is progress after "3 of 5 tests fail".

    Args:
        first: A reason; an empty one says nothing, and is like no other.
        second: Another one.
        overlap: The share of all their words that both must have, from 0 to 1.
    """
    words, others = _words(first), _words(second)
    if not words or not others or _numbers(words) != _numbers(others):
        return False
    return len(words & others) >= overlap * len(words | others)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _numbers(words: set[str]) -> set[str]:
    return {word for word in words if any(map(str.isdigit, word))}
