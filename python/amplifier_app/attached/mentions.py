"""`@path` in a prompt: the places where one may be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_MENTION = re.compile(r"(?:(?<=[\s(\[{,;:'])|\A)@(?:\"([^\"\n]+)\"|([^\s\"]+))")
_ENDS = ".,;:!?)]}'`"
"""What may follow a path in a sentence."""
_MOST = 200
"""So many are looked at: a text that is pasted may be full of them."""


class Mention(NamedTuple):
    """Where a path may be mentioned."""

    start: int
    """The place of the `@`."""
    paths: tuple[str, ...]
    """What it may name, the likeliest first."""


def find_mentions(text: str) -> Iterator[Mention]:
    """Return what may be a path behind an `@`; that of `name@host` is none."""
    for count, found in enumerate(_MENTION.finditer(text)):
        if count == _MOST:
            return
        if found[1] is not None:
            yield Mention(found.start(), (found[1],))
            continue
        path = found[2]
        paths = [path]
        while path and path[-1] in _ENDS:
            path = path[:-1]
            if path:
                paths.append(path)
        yield Mention(found.start(), tuple(paths))
