"""Secrets that are no more than a word."""

from __future__ import annotations

import re

_MIN_STRONG_CHARS = 12
_WORD = re.compile(r"[\W\d_]{0,4}([A-Z]?[a-z]{3,20}|[A-Z]{4,20})[\W\d_]{0,4}")
_PAIRS = (
    "ab ac ad ag al am an ap ar as at bl ca ce ch ck co ct da de di ea ec ed ef el em en er es et ex"
    " fi fo ge ha he ic id ig il im in io is it ke la le li ll lo ma me mi mo mp na nc nd ne ng ni"
    " no ns nt oc od ol om on op or os ot ou pa pe pl po pr ra re ri ro rr rs rt sc se sh si sp ss"
    " st ta te th ti to tr ts tt ty un ur us ut va ve"
)
"""The pairs of letters that are frequent in English words."""


def is_weak(value: str) -> bool:
    """Whether a secret is short or a word, so that it may occur by chance."""
    return len(value) < _MIN_STRONG_CHARS or is_word(value)


def is_word(value: str) -> bool:
    """Whether a text reads as an English word, with a few other characters around it.

    At least half of the pairs of letters are frequent ones: so it is with 19 of 20 words, and with
    1 of 170 random texts.
    """
    if not (found := _WORD.fullmatch(value)):
        return False
    word = found[1].lower()
    pairs = [word[place : place + 2] for place in range(len(word) - 1)]
    return 2 * sum(pair in _PAIRS for pair in pairs) >= len(pairs)
