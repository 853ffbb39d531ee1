"""Taking back a turn of a stored session, and making it again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amplifier_app.commands.report import Report
from amplifier_app.failure import Failure
from amplifier_app.sessions.choice import describe_session
from amplifier_app.sessions.opening import run_on_store
from amplifier_app.sessions.process import find_process
from amplifier_modules.changes.rewind_point import RewindPoint, find_point
from amplifier_modules.changes.undone import Undone, describe_redo, describe_undo

from .stored_changes import open_changes, read_stored_turns, reporting_change_errors
from .undone_lines import MADE_AGAIN, UNDONE, list_undone

if TYPE_CHECKING:
    from amplifier_modules.changes.session_changes import SessionChanges
    from amplifier_modules.stores import SessionInfo, Store


def undo_turn(
    report: Report, name: str | None, folder: Path, *, preview: bool, to: str | None
) -> None:
    """Take back the last turn of a session that changed something, or all after a moment of it.

    Raises:
        Failure: There is no such session, a process has it open, or something stays as it is.
    """
    point: RewindPoint | None = None

    def undo(info: SessionInfo, changes: SessionChanges) -> Undone:
        nonlocal point
        if to is None:
            return changes.undo(changes.list_last_turn(), preview=preview)
        point = find_point(to, changes.list_changes(), read_stored_turns(info), info.id)
        return changes.undo(point.changes, preview=preview)

    def describe_point() -> dict[str, Any]:
        return {} if point is None else {"event": point.event}

    info = _swap_turn(
        report,
        name,
        folder,
        undo,
        describe_undo,
        UNDONE,
        preview=preview,
        describe_more=describe_point,
    )
    if point is not None and not report.as_json:
        fork = f"amplifier-core session fork {info.id} --at {point.event}"
        report.say_aside(f"`{fork}` makes a conversation that goes on from there")


def redo_turn(report: Report, name: str | None, folder: Path, *, preview: bool) -> None:
    """Make again the turn that was taken back last; as `undo_turn`."""

    def redo(_: SessionInfo, changes: SessionChanges) -> Undone:
        return changes.redo(changes.list_undone_turn(), preview=preview)

    _swap_turn(report, name, folder, redo, describe_redo, MADE_AGAIN, preview=preview)


def _swap_turn(
    report: Report,
    name: str | None,
    folder: Path,
    swap: Callable[[SessionInfo, SessionChanges], Undone],
    describe: Callable[[Undone], str],
    verb: str,
    *,
    preview: bool,
    describe_more: Callable[[], dict[str, Any]] = dict,
) -> SessionInfo:
    info, changes = open_changes(name, folder)
    if not preview:
        _refuse_open(info, verb)
    with reporting_change_errors():
        undone = swap(info, changes)
    # Before anything is written, so that a reader who has gone does not keep the model from it.
    problem = _tell_model(info, describe(undone)) if undone.changes and not preview else None
    if report.as_json:
        report.write_data({"session_id": info.id, **describe_more(), **asdict(undone)})
    else:
        first, *rest = list_undone(undone, verb, names_all=report.width is None)
        report.write_lines([f"{describe_session(info)}: {first}", *rest])
    if problem is not None:
        raise problem
    if not preview and (undone.conflicts or undone.missing):
        raise Failure(f"not everything was {verb}", hint="what stays as it is was named")
    return info


def _refuse_open(info: SessionInfo, verb: str) -> None:
    """Refuse what the model of another process would not learn of before its next turn.

    Raises:
        Failure: A process of this machine has the session open.
    """
    if (process := find_process(info)) is not None:
        command = "/undo" if verb == UNDONE else "/redo"
        message = f"{describe_session(info)} is open in process {process}"
        raise Failure(message, hint=f"type `{command}` there, or try again when it has ended")


def _tell_model(info: SessionInfo, text: str) -> Failure | None:
    """Leave a note that the session reads in its next turn; return why that is not possible."""

    async def put(store: Store) -> None:
        from amplifier_modules.stores.inbox import STEERING

        await store.put(info.id, STEERING, {"text": text})

    try:
        run_on_store(put)
    except Failure as failure:
        return failure
    return None
