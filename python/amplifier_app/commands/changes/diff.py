"""What a session has changed in the project, as one diff."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from amplifier_app.commands.report import Report
from amplifier_app.failure import Failure
from amplifier_app.sessions.choice import describe_session
from amplifier_modules.changes.change import ChangedPath
from amplifier_modules.changes.line_diff import compare_lines
from amplifier_modules.changes.merged_paths import merge_paths
from amplifier_modules.changes.session_lock import ChangesInUseError

from .stored_changes import open_changes

_MAX_BYTES = 4 * 2**20
"""A version of a file that is larger is named, not compared."""


def show_diff(report: Report, name: str | None, folder: Path) -> None:
    """Write what a session has changed, less what was taken back.

    Raises:
        Failure: There is no such session, or it runs.
    """
    info, changes = open_changes(name, folder)
    try:
        paths = merge_paths(changes.list_paths())
    except ChangesInUseError as error:
        raise Failure(str(error), hint="try again when it has ended") from error
    if report.as_json:
        listed = [{**vars(each), "diff": _compare(each)} for each in paths]
        report.write_data({"session": info.id, "paths": listed})
        return
    if not paths:
        report.say_aside(f"{describe_session(info)} has changed nothing in the project")
    for path in paths:
        report.write_lines(_list_lines(path))


def _list_lines(path: ChangedPath) -> Iterator[str]:
    text = _compare(path)
    if text is None:
        yield f"{path.kind} {path.type} {path.path} ({path.size:,} bytes)"
    else:
        yield from text.splitlines()


def _compare(path: ChangedPath) -> str | None:
    """Return the change of a file as a unified diff; None if it is no text or has no lines."""
    try:
        before, after = _read(path.before), _read(path.after)
    except (OSError, ValueError):
        return None
    if path.type != "file" or any(b"\0" in each for each in (before, after) if each is not None):
        return None
    return compare_lines(path.path, before, after).text or None


def _read(path: str | None) -> bytes | None:
    if path is None:
        return None
    with Path(path).open("rb") as file:
        content = file.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise ValueError("too large to be compared")
    return content
