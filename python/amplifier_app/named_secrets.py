"""The known secrets in a question, replaced by their names; those that are no more than a word stay."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterable, Mapping

from amplifier_guard import Redactor
from amplifier_guard.question import AsIs

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


_SALT = secrets.token_bytes(16)
"""Without it the digest of a part of a secret could be searched for."""


def with_names(text: str, names: Mapping[str, str]) -> list[str]:
    """Return the parts of a text; those that are `AsIs` stand for a known secret.

    A secret that is written out is `[NAME]`; a part of one, or another encoding, also has its size
    and a digest, so that two texts that differ still differ. Weak secrets stay, as what they hide
    may matter more than they do.

    Args:
        text: What a person is asked.
        names: The names of the secrets by their values.
    """
    strong = {value: name for value, name in names.items() if not is_weak(value)}
    parts: list[bytes | AsIs] = [text.encode("utf-8", "surrogatepass")]
    # The longest first: it may contain another.
    for value in sorted(strong, key=len, reverse=True):
        parts = [new for part in parts for new in _split_part(part, value, strong[value])]
    return [new for part in parts for new in _unlike_names(part, strong.values())]


def _split_part(part: bytes | AsIs, value: str, name: str) -> list[bytes | AsIs]:
    if isinstance(part, AsIs):
        return [part]
    parts: list[bytes | AsIs] = []
    end = 0
    for first, last in Redactor([value]).known_places(part):
        secret = part[first:last]
        parts += [part[end:first], _name_secret(secret, value, name)]
        end = last
    return [*parts, part[end:]]


def _name_secret(secret: bytes, value: str, name: str) -> bytes | AsIs:
    text = secret.decode("utf-8", "replace")
    if text == value:
        return AsIs(f"[{name}]")
    if is_word(text):
        return secret
    digest = hashlib.blake2b(secret, key=_SALT, digest_size=4).hexdigest()
    return AsIs(f"[{name}:{len(secret)}:{digest}]")


def _unlike_names(part: bytes | AsIs, names: Iterable[str]) -> list[str]:
    """The part as text in which nothing looks like a name that stands for a secret."""
    if isinstance(part, AsIs):
        return [part]
    text = part.decode("utf-8", "surrogateescape")
    starts = "|".join(map(re.escape, names))
    pieces = re.split(rf"\[(?={starts})", text) if starts else [text]
    parts = [pieces[0]]
    for piece in pieces[1:]:
        parts += [AsIs("⟨U+5B⟩"), piece]
    return parts
