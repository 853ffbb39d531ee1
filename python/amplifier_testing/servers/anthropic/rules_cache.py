"""Rules for the marks of the prompt cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..serving.fields import Path
from ..serving.reading import Json, read_objects
from .judged_request import JudgedRequest
from .refusals import make_invalid
from .shapes import CACHE_CONTROL, check_fields

MAX_MARKS = 4


def check_marks(asked: JudgedRequest) -> None:
    """At most four marks, each of the one type, those that last longer first."""
    marks = list(_find_marks(asked))
    lasting = ""
    for path, mark in marks:
        if mark.get("type") != "ephemeral":
            raise make_invalid("Input should be 'ephemeral'", (*path, "type"))
        check_fields(mark, CACHE_CONTROL, path)
        lasts = mark.get("ttl", "5m")
        if lasts not in {"5m", "1h"}:
            raise make_invalid("Input should be '5m' or '1h'", (*path, "ttl"))
        if lasting == "5m" and lasts == "1h":
            raise make_invalid(
                "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control"
                " block. Note that blocks are processed in the following order: `tools`, `system`,"
                " `messages`.",
                (*path, "ttl"),
            )
        lasting = lasts
    # A mark of the whole request takes the place of one of the four.
    whole = 1 if asked.body.get("cache_control") else 0
    if len(marks) + whole > MAX_MARKS:
        raise make_invalid(
            f"A maximum of {MAX_MARKS} blocks with cache_control may be provided."
            f" Found {len(marks) + whole}."
        )


def _find_marks(asked: JudgedRequest) -> Iterator[tuple[Path, Json]]:
    for index, tool in enumerate(asked.tools):
        yield from _find_mark(tool, ("tools", index))
    for index, block in enumerate(read_objects(asked.body.get("system"))):
        yield from _find_mark(block, ("system", index))
    for turn in asked.turns:
        for index, block in enumerate(turn.blocks):
            path: Path = (*turn.path, "content", index)
            yield from _find_mark(block, path)
            for inner, part in enumerate(read_objects(block.get("content"))):
                if block["type"] == "tool_result":
                    yield from _find_mark(part, (*path, "content", inner))


def _find_mark(block: dict[str, Any], path: Path) -> Iterator[tuple[Path, Json]]:
    mark = block.get("cache_control")
    if mark is not None:
        yield (*path, "cache_control"), mark
