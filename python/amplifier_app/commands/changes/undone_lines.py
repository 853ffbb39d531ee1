"""What an undo took back or a redo made again, in lines for a person."""

from __future__ import annotations

import re
from collections.abc import Iterator

from amplifier_app.printable import printable_line
from amplifier_modules.changes.undone import Undone
from amplifier_providers.running.count_noun import count_noun

_ERROR_NUMBER = re.compile(r" \(os error \d+\)")
_MAX_PATHS = 100
"""More of them are counted on a screen, not named."""

UNDONE = "undone"
MADE_AGAIN = "made again"


def list_undone(undone: Undone, verb: str, *, names_all: bool = False) -> Iterator[str]:
    """Yield what became of each path; the first line says how much it is.

    Args:
        undone: What was done, or would be.
        verb: `UNDONE` or `MADE_AGAIN`.
        names_all: Whether all paths are named, however many there are.
    """
    would = "would be " if undone.is_preview else ""
    if not (undone.changes or undone.missing):
        yield f"there is nothing that can be {verb}"
        return
    if undone.paths:
        changes = count_noun(undone.changes, "change")
        yield f"{count_noun(len(undone.paths), 'path')} {would}{verb} ({changes}):"
    else:
        yield f"nothing {would}{verb}:"
    shown = undone.paths if names_all else undone.paths[:_MAX_PATHS]
    for path in shown:
        yield f"  {path.kind:<8}  {printable_line(path.path)}"
    if more := len(undone.paths) - len(shown):
        yield f"  and {more:,} more"
    for conflict in undone.conflicts:
        kept = f"; the other version is `{printable_line(conflict.kept)}`" if conflict.kept else ""
        reason = write_reason(conflict.reason)
        yield f"  left as it is: {printable_line(conflict.path)}: {reason}{kept}"
    yield from (f"  not possible: {write_reason(each)}" for each in dict.fromkeys(undone.missing))


def write_reason(reason: str) -> str:
    """Return why something was not possible, in a line that is safe to show."""
    return printable_line(_ERROR_NUMBER.sub("", reason))
