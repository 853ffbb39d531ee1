"""What a person sees of the result of a tool call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from amplifier_app.display.change_lines import (
    DIFF_HINT,
    TakeDiff,
    is_change,
    list_change,
    list_changes,
    summarize_change,
    summarize_changes,
)
from amplifier_app.display.command_lines import has_succeeded, is_command, list_command
from amplifier_app.display.excerpt import Line
from amplifier_app.display.preview import result_summary


@dataclass(frozen=True)
class ResultView:
    """What follows the name of a tool on its line, and the lines below; all safe to draw."""

    is_good: bool
    summary: str
    lines: tuple[Line, ...] = ()
    has_seconds: bool = False
    """Whether it says itself how long it took."""


def view_result(
    result: object, take_diff: TakeDiff, content: str = "", *, keeps_changes: bool = False
) -> ResultView:
    """Return what is drawn of a result.

    Args:
        result: The result.
        take_diff: Returns the change of a file as a unified diff, where the result has none.
        content: What the call has written, where no diff is known.
        keeps_changes: Whether the session keeps its changes, so that all of a long one can be seen.
    """
    output = _find_output(result)
    if is_command(output):
        summary, lines = list_command(output)
        return ResultView(has_succeeded(output), summary, tuple(lines), has_seconds=True)
    files = [output] if is_change(output) else _list_files(output)
    if not files:
        return ResultView(*result_summary(result))
    omitted = _count_omitted(output)
    hint = DIFF_HINT if keeps_changes else ""
    if len(files) == 1 and not omitted:
        [file] = files
        diff = file.get("diff") or take_diff(str(file.get("path")))
        content = content if file["kind"] == "created" else ""
        lines = list_change(file, str(diff), content, hint)
        return ResultView(True, summarize_change(file), tuple(lines))
    lines = list_changes(files, take_diff, omitted, hint)
    return ResultView(True, summarize_changes(files, omitted), tuple(lines))


def _find_output(result: object) -> Mapping[str, Any]:
    """Return the fields of a result that is a success; none of any other."""
    if not isinstance(result, Mapping):
        return {}
    fields = cast("Mapping[str, Any]", result)
    output: object = fields.get("output") if fields.get("success", True) else None
    return cast("Mapping[str, Any]", output) if isinstance(output, Mapping) else {}


def _list_files(output: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the files that a patch has changed."""
    found: object = output.get("files")
    if not isinstance(found, list):
        return []
    files = [cast("Mapping[str, Any]", file) for file in cast("list[Any]", found)]
    return files if all(isinstance(file, Mapping) and is_change(file) for file in files) else []  # pyright: ignore[reportUnnecessaryIsInstance]


def _count_omitted(output: Mapping[str, Any]) -> int:
    """Return how many files a result does not name."""
    omitted = output.get("omitted")
    count = cast("Mapping[str, Any]", omitted).get("files") if isinstance(omitted, Mapping) else 0
    return count if isinstance(count, int) else 0
