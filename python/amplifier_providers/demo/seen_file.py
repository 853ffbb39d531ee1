"""Files as the results of the tools have shown them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from .foreign import read_text, read_whole
from .turn import Result

LOOK = "read_file"
"""The tool that shows files."""
_MISSING = re.compile(r"\bno (?:such )?file\b|\bnot found\b|\bdoes not exist\b", re.IGNORECASE)
_DENIED = re.compile(r"\bdenied\b|\brefused\b", re.IGNORECASE)


@dataclass(frozen=True)
class File:
    """A file as `read_file` has shown it."""

    path: str
    text: str | None
    """What it holds; None if it is not there."""
    problem: str = ""
    """Why that is not known."""


def find_result(
    results: Sequence[Result], tools: Collection[str], path: str | None
) -> Result | None:
    """Return the last result of one of some tools, for a file if one is named."""
    for result in reversed(results):
        if result.call.name in tools and path in (None, result.call.input.get("path")):
            return result
    return None


def find_file(results: Sequence[Result], path: str) -> File | None:
    """Return a file as it was read last; None while nobody has looked."""
    result = find_result(results, {LOOK}, path)
    return None if result is None else read_file_result(path, result)


def read_file_result(path: str, result: Result) -> File:
    """Return the file that a result shows."""
    if result.failed:
        is_missing = _MISSING.search(result.text) and not _DENIED.search(result.text)
        return File(path, None, "" if is_missing else result.text.strip() or "no reason")
    content = result.data.get("content")
    if not isinstance(content, str):
        return File(path, None, f"the result of `{LOOK}` has an unknown form")
    if result.data.get("truncated"):
        lines = read_whole(result.data.get("total_lines"))
        return File(path, None, f"it is too long to be read at once ({lines or 'many'} lines)")
    return File(path, unify_text(content))


def unify_text(content: object) -> str:
    """Return a content without what depends on the system that it was written on."""
    return read_text(content).removeprefix("\ufeff").replace("\r\n", "\n")


def is_done(result: Result | None) -> bool:
    """Whether a call was made and has not failed."""
    return result is not None and not result.failed
