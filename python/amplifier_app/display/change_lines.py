"""What a tool has changed in files, as the lines that were added and removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from typing import Any, TypeAlias

from amplifier_app.display.excerpt import Line, describe_rest, show_line, split_lines
from amplifier_app.display.preview import MAX_PREVIEW_CHARS
from amplifier_app.known_secrets import SECRETS
from amplifier_app.printable import printable_line
from amplifier_providers.running.count_noun import count_noun

TakeDiff: TypeAlias = Callable[[str], str]
"""Returns the change of the file at a path as a unified diff, once; empty if it is not known."""

DIFF_HINT = "; `/diff` or `amplifier-core diff` shows all"
"""Where the session keeps its changes."""
MAX_LINES = 20
"""So many lines of a change are drawn."""
_STYLES = {"+": "diff.added", "-": "diff.removed", "@": "note", "\\": "note"}


def is_change(output: Mapping[str, Any]) -> bool:
    """Whether the output of a tool says how it has changed a file."""
    return isinstance(output.get("kind"), str) and isinstance(output.get("lines_added"), int)


def summarize_change(file: Mapping[str, Any]) -> str:
    """Return what happened to a file, and to how many lines."""
    kind = printable_line(file["kind"], MAX_PREVIEW_CHARS)
    added, removed = file["lines_added"], _read_count(file.get("lines_removed"))
    if kind in ("created", "deleted"):
        return f"{kind}, {count_noun(added or removed, 'line')}"
    return f"{kind} +{added:,} -{removed:,} lines" if added or removed else kind


def summarize_changes(files: list[Mapping[str, Any]], omitted: int) -> str:
    """Return what happened to several files."""
    added = sum(file["lines_added"] for file in files)
    removed = sum(_read_count(file.get("lines_removed")) for file in files)
    return f"{count_noun(len(files) + omitted, 'file')}, +{added:,} -{removed:,} lines"


def list_change(file: Mapping[str, Any], diff: str, content: str, hint: str) -> list[Line]:
    """Return the first lines of a change.

    Args:
        file: What the tool says of it.
        diff: The change as a unified diff; empty if it is not known.
        content: All that a new file holds, where no diff is known.
        hint: Follows how many more lines there are.
    """
    lines = list(_read_diff(file, diff)) if diff else _show_all(content)
    return _take_first(lines, MAX_LINES, hint, is_whole=_is_whole(file, diff))


def list_changes(
    files: list[Mapping[str, Any]], take_diff: TakeDiff, omitted: int, hint: str
) -> Iterator[Line]:
    """Yield the files of a patch, and what was added and removed in each while there is room."""
    shown = files[:MAX_LINES]
    room = (MAX_LINES - len(shown)) // max(1, len(shown))
    for file in shown:
        path, old_path = file.get("path"), file.get("old_path")
        name = str(path) if old_path is None else f"{old_path} to {path}"
        yield f"{printable_line(name, MAX_PREVIEW_CHARS)}: {summarize_change(file)}", ""
        diff = str(file.get("diff") or take_diff(str(path)))
        lines = [line for line in _read_diff(file, diff) if line[1].startswith("diff.")]
        if room:
            first = _take_first(lines, room, hint, is_whole=_is_whole(file, diff))
            yield from ((f"  {text}", style) for text, style in first)
    if left := len(files) - len(shown) + omitted:
        yield f"… {count_noun(left, 'more file')}", "note"


def _read_count(value: object) -> int:
    return value if isinstance(value, int) else 0


def _show_all(content: str) -> list[Line]:
    return [(f"+{show_line(line)}", _STYLES["+"]) for line in split_lines(content)]


def _read_diff(file: Mapping[str, Any], diff: str) -> Iterator[Line]:
    """Yield the lines of a diff; a new file has no heads of hunks."""
    # The head names the file, as the call does.
    lines = [line for line in diff.removesuffix("\n").split("\n")[2:] if line]
    is_new = file.get("kind") == "created"
    for mark, run in groupby(lines, key=lambda line: line[0]):
        if mark in "@\\":
            yield from () if is_new else ((show_line(line), _STYLES[mark]) for line in run)
            continue
        # A secret of several lines is found without the marks between its lines.
        text = SECRETS.redact("\n".join(line[1:] for line in run))
        yield from (
            (f"{mark}{show_line(line)}", _STYLES.get(mark, "")) for line in text.split("\n")
        )


def _is_whole(file: Mapping[str, Any], diff: str) -> bool:
    """Whether a diff has all lines of a change: a long one is cut where it is made."""
    changed = sum(line[:1] in ("+", "-") for line in diff.split("\n")[2:])
    return not diff or changed >= file["lines_added"] + _read_count(file.get("lines_removed"))


def _take_first(lines: list[Line], most: int, hint: str, *, is_whole: bool) -> list[Line]:
    if is_whole and len(lines) <= most + 1:
        return lines
    rest, style = describe_rest(len(lines[most:]), is_whole=is_whole)
    return [*lines[:most], (f"{rest}{hint}", style)]
