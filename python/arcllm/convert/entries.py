"""The blocks of a message and its opaque entries: taken apart, and put together again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, TypeAlias

from ..types import ContentBlock, TextBlock
from .blocks import JsonDict, block_mark, read_block

Woven: TypeAlias = tuple[ContentBlock, JsonDict] | JsonDict
"""A block that can be read and what it has besides, or a hidden block of the kernel."""


def split_blocks(blocks: Iterable[JsonDict]) -> tuple[list[ContentBlock], list[JsonDict]]:
    """Return the blocks of the kernel that can be read, and the entries of all of them.

    Args:
        blocks: The blocks as plain data.
    """
    visible: list[ContentBlock] = []
    entries: list[JsonDict] = []
    for block in blocks:
        found = read_block(block)
        if found is not None:
            visible.append(found[0])
        entries.append(entry_of(block if found is None else found))
    return visible, entries


def entry_of(part: Woven) -> JsonDict:
    """Return the entry of a block."""
    if not isinstance(part, tuple):
        return {"type": "hidden", "block": part}
    block, more = part
    entry: JsonDict = {"type": "visible", "kind": block.type, "mark": block_mark(block)}
    if isinstance(block, TextBlock):
        entry["chars"] = len(block.text)
    if more:
        entry["more"] = more
    return entry


def needed_entries(entries: list[JsonDict]) -> list[JsonDict] | None:
    """Return the entries if they say more than the blocks that can be read, else None."""
    says_more = any(
        entry["type"] == "hidden"
        or "more" in entry
        or (entry["type"] == "origin" and len(entry) > 1)
        for entry in entries
    )
    return entries if says_more else None


def weave_blocks(blocks: Sequence[ContentBlock], entries: Sequence[JsonDict]) -> Iterator[Woven]:
    """Yield the blocks of a message and the hidden ones between them.

    A block that was changed comes in the place of the one that it was, without what the service said
    of that; one that was added comes after its predecessor, one that was taken out is gone.
    """
    places = iter(_place_blocks(blocks, [entry for entry in entries if entry["type"] == "visible"]))
    yield from next(places)
    for entry in entries:
        if entry["type"] == "hidden":
            yield entry["block"]
        elif entry["type"] == "visible":
            yield from next(places)


def _place_blocks(blocks: Sequence[ContentBlock], entries: Sequence[JsonDict]) -> list[list[Woven]]:
    """Return what comes first, and then what takes the place of each visible entry."""
    if not entries:
        return [[(block, {}) for block in blocks]]
    places: list[list[Woven]] = [[] for _ in range(len(entries) + 1)]
    known = [entry["mark"] for entry in entries]
    marks = [block_mark(block) for block in blocks]
    for what, start, end, first, last in _find_changes(known, marks):
        for offset, block in enumerate(blocks[first:last]):
            # More blocks than entries: the others follow the last of them.
            at = min(start + offset, end - 1) if end > start else start - 1
            more = _read_more(entries[at]) if what == "equal" else {}
            places[at + 1].append((block, more))
    return places


def _find_changes(known: list[str], found: list[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """Yield what became of each part of a list, in the form of `SequenceMatcher`."""
    if known == found:
        yield "equal", 0, len(known), 0, len(known)
        return
    # What is the same at both ends first: equal blocks in between could be taken for each other.
    shorter = min(len(known), len(found))
    before = next((at for at in range(shorter) if known[at] != found[at]), shorter)
    after = 0
    while after < shorter - before and known[-1 - after] == found[-1 - after]:
        after += 1
    yield "equal", 0, before, 0, before
    inner, changed = known[before : len(known) - after], found[before : len(found) - after]
    for what, *places in SequenceMatcher(None, inner, changed, autojunk=False).get_opcodes():
        start, end, first, last = (place + before for place in places)
        yield what, start, end, first, last
    yield "equal", len(known) - after, len(known), len(found) - after, len(found)


def _read_more(entry: JsonDict) -> dict[str, Any]:
    return entry.get("more") or {}
