"""The question whether changes get into the project that other programs would follow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from amplifier_modules.changes.careful import CarefulChange
from amplifier_modules.changes.careful.plain_file import read_beginning
from amplifier_modules.changes.change import ChangedPath
from amplifier_modules.changes.shown_path import show_path
from amplifier_modules.tools.filesystem.line_diff import compare_lines

_MAX_BYTES = 2**18
"""A version of a file that is larger is named, not shown."""
_MAX_LINES = 40
"""Lines of a difference that are shown, of each file."""
_MAX_PATHS = 20


def write_question(careful: Sequence[CarefulChange], paths: Mapping[str, ChangedPath]) -> str:
    """Return what a person reads: each path, why it is asked about, and what would change."""
    return "\n".join(["put these changes of the command into the project?", *_list(careful, paths)])


def describe_changes(
    careful: Sequence[CarefulChange], paths: Mapping[str, ChangedPath]
) -> dict[str, Any]:
    """Return the same for programs that answer."""
    return {
        "changes": [
            {
                "paths": list(each.paths),
                "reason": each.reason,
                "kinds": [paths[path].kind for path in each.paths if path in paths],
            }
            for each in careful
        ]
    }


def _list(careful: Sequence[CarefulChange], paths: Mapping[str, ChangedPath]) -> Iterator[str]:
    for change in careful:
        for path in change.paths[:_MAX_PATHS]:
            found = paths.get(path)
            kind = "" if found is None else f" ({found.kind})"
            yield f"| `{show_path(path)}`{kind}: {change.reason}"
            if len(change.paths) <= _MAX_PATHS and found is not None:
                yield from _list_lines(found)
        if (more := len(change.paths) - _MAX_PATHS) > 0:
            yield f"| and {more:,} more: {change.reason}"


def _list_lines(path: ChangedPath) -> Iterator[str]:
    if path.type != "file":
        return
    try:
        before, after = _read(path.before), _read(path.after)
    except (OSError, ValueError) as error:
        yield f"|   {error}"
        return
    lines = compare_lines(path.path, before, after).text.splitlines()[2:]
    yield from (f"|   {line}" for line in lines[:_MAX_LINES])
    if (more := len(lines) - _MAX_LINES) > 0:
        yield f"|   … {more:,} more lines"


def _read(path: str | None) -> bytes | None:
    if path is None:
        return None
    content = read_beginning(path, _MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise ValueError("it is too large to be shown")
    if b"\0" in content:
        raise ValueError("it is no text")
    return content
