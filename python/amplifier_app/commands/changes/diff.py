"""What a session has changed in the project, as one diff."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from amplifier_app.commands.report import Report
from amplifier_app.known_secrets import SECRETS
from amplifier_app.printable import printable_line
from amplifier_app.sessions.choice import describe_session
from amplifier_modules.changes.change import ChangedPath
from amplifier_modules.changes.line_diff import compare_lines
from amplifier_modules.changes.merged_paths import merge_paths
from amplifier_modules.changes.rewind_point import NamedChange

from .stored_changes import open_changes, read_stored_turns, reporting_change_errors

_MAX_BYTES = 4 * 2**20
"""A version of a file that is larger is named, not compared."""


def show_diff(report: Report, name: str | None, folder: Path, *, lists: bool) -> None:
    """Write what a session has changed, less what was taken back.

    Args:
        report: What writes it.
        name: What names the session; None for the last one of the folder.
        folder: Its sessions are meant first.
        lists: Whether the changes are listed alone, each with what names it.

    Raises:
        Failure: There is no such session, or it runs.
    """
    info, changes = open_changes(name, folder)
    with reporting_change_errors():
        named = changes.list_named(read_stored_turns(info))
        paths = [] if lists else merge_paths(changes.list_paths())
    if report.as_json:
        data: dict[str, Any] = {"session_id": info.id, "changes": [vars(each) for each in named]}
        if not lists:
            data["paths"] = [{**vars(each), "diff": _compare(each)} for each in paths]
        report.write_data(data)
        return
    if lists:
        report.write_lines(list_changes(named))
        return
    if not paths:
        report.say_aside(f"{describe_session(info)} has changed nothing in the project")
    report.write_lines(list_diff(paths, shows=report.width is not None))
    if report.width is not None:  # a program that applies a diff reads nothing else
        report.write_lines(list_changes(named))


def list_changes(named: Iterable[NamedChange]) -> Iterator[str]:
    """Yield a line for each change, with all that it is named by; safe to show."""
    for each in named:
        event = None if each.event is None else f"event-{each.event}"
        names = " ".join(name for name in (each.id, each.turn, event) if name)
        more = len(each.paths) - 1
        paths = each.paths[0] if each.paths else "no path that is kept"
        others = f" and {more:,} more" if more > 0 else ""
        yield printable_line(f"{names} {each.tool}: {paths}{others}")


def list_diff(paths: Iterable[ChangedPath], *, shows: bool) -> Iterator[str]:
    """Yield the lines of one diff, and what else was changed.

    Args:
        paths: What was changed.
        shows: Whether a terminal shows it, which nothing in a file is to control; a program that
            reads it gets the lines as they are.
    """
    for path in paths:
        text = _compare(path)
        if text is None:
            size = f" ({path.size:,} bytes)" if path.type == "file" else ""
            yield f"{path.kind} {path.type} {printable_line(path.path)}{size}"
        else:
            safe = SECRETS.redact(text)  # whole, as a secret may have several lines
            yield from (_show(safe) if shows else safe).removesuffix("\n").split("\n")


def _show(text: str) -> str:
    from amplifier_guard import TerminalText

    return TerminalText.show(text)


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
