"""What a command wrote, and how it ended where that is not as usual."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from amplifier_app.display.excerpt import Line, split_lines, take_both_ends
from amplifier_app.printable import printable_line

_MIN_SHOWN_SECONDS = 1.0
"""The time of a faster command is not shown."""
_MAX_CHARS = 500
"""Characters of a note, at most."""


def is_command(output: Mapping[str, Any]) -> bool:
    """Whether the output of a tool says how a command ended, or that it has begun."""
    return "sandbox" in output and (isinstance(output.get("output"), str) or _is_job(output))


def has_succeeded(output: Mapping[str, Any]) -> bool:
    """Whether a command did not end with an error."""
    return not any(output.get(key) for key in ("exit_code", "signal", "timed_out", "killed"))


def list_command(output: Mapping[str, Any]) -> tuple[str, list[Line]]:
    """Return what is drawn after the name of the tool, and the lines below."""
    ending = ", ".join(_describe_ending(output))
    notes = list(_list_notes(output))
    if _is_job(output):
        id = printable_line(str(output["id"]), _MAX_CHARS)
        return ", ".join(filter(None, (f"runs in the background as `{id}`", ending))), notes
    lines = take_both_ends(split_lines(output["output"]), is_whole="output_file" not in output)
    if not lines:
        return ", ".join(filter(None, ("no output", ending))), notes
    style = "note" if has_succeeded(output) else "error"
    return "", [*lines, *([(ending, style)] if ending else []), *notes]


def _is_job(output: Mapping[str, Any]) -> bool:
    return "id" in output and output.get("status") == "running"


def _describe_ending(output: Mapping[str, Any]) -> Iterator[str]:
    if output.get("timed_out"):
        yield "timed out"
    if output.get("killed"):
        yield "killed"
    if signal := output.get("signal"):
        yield f"ended by {printable_line(str(signal), 80)}"
    if code := output.get("exit_code"):
        yield f"exit code {printable_line(str(code), 80)}"
    seconds = output.get("seconds")
    if isinstance(seconds, int | float) and seconds >= _MIN_SHOWN_SECONDS:
        yield f"{seconds:.1f} s"
    if folder := output.get("directory"):
        yield f"now in `{printable_line(str(folder), _MAX_CHARS)}`"
    if output["sandbox"] == "none":
        yield "without a sandbox"


def _list_notes(output: Mapping[str, Any]) -> Iterator[Line]:
    if edge := output.get("edge"):
        yield printable_line(str(edge), _MAX_CHARS), "warning"
    if note := output.get("note"):
        yield printable_line(str(note), _MAX_CHARS), "note"
    if file := output.get("output_file"):
        yield f"all of it is in `{printable_line(str(file), _MAX_CHARS)}`", "note"
    if problem := output.get("output_file_problem"):
        yield printable_line(str(problem), _MAX_CHARS), "warning"
