"""The long texts of rows, which are stored by their hashes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from ..json_text import BLOB
from .rows import find_hashes, find_parts

FindTexts = Callable[[list[str]], Awaitable[Mapping[str, bytes]]]
"""Returns the texts of some hashes, as far as they are stored."""


async def read_texts(rows: Sequence[Any], find: FindTexts) -> Mapping[str, bytes]:
    """Return the long texts of rows, by their hashes, as far as they are stored.

    Args:
        rows: The rows.
        find: Finds texts.
    """
    mark = f'"{BLOB}"'
    marked = [row for row in rows if mark in row["body"]]
    if not marked:
        return {}
    whole = find_hashes(marked)
    texts = dict(await find(sorted(whole))) if whole else {}
    bodies = [texts[name].decode(errors="replace") for name in whole if name in texts]
    bodies += [row["body"] for row in marked]
    parts = set[str]().union(*(find_parts(each) for each in bodies if mark in each))
    if missing := parts - texts.keys():
        texts |= await find(sorted(missing))
    return texts
