"""Taking back a turn of a stored session, and making it again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from amplifier_app.commands.report import Report
from amplifier_app.failure import Failure
from amplifier_app.sessions.choice import describe_session
from amplifier_app.sessions.opening import run_on_store
from amplifier_modules.changes.session_lock import ChangesInUseError
from amplifier_modules.changes.undone import Undone, describe_redo, describe_undo
from amplifier_providers.running.count_noun import count_noun

from .stored_changes import open_changes

if TYPE_CHECKING:
    from amplifier_modules.changes.session_changes import SessionChanges
    from amplifier_modules.stores import SessionInfo, Store


def undo_turn(report: Report, name: str | None, folder: Path, *, preview: bool) -> None:
    """Take back the last turn of a session that changed something.

    Raises:
        Failure: There is no such session, or it runs.
    """

    def undo(changes: SessionChanges) -> Undone:
        return changes.undo(changes.list_last_turn(), preview=preview)

    _swap(report, name, folder, undo, describe_undo, "undone")


def redo_turn(report: Report, name: str | None, folder: Path, *, preview: bool) -> None:
    """Make again the turn that was taken back last; as `undo_turn`."""

    def redo(changes: SessionChanges) -> Undone:
        return changes.redo(changes.list_undone_turn(), preview=preview)

    _swap(report, name, folder, redo, describe_redo, "made again")


def _swap(
    report: Report,
    name: str | None,
    folder: Path,
    swap: Callable[[SessionChanges], Undone],
    describe: Callable[[Undone], str],
    verb: str,
) -> None:
    info, changes = open_changes(name, folder)
    try:
        undone = swap(changes)
    except ChangesInUseError as error:
        raise Failure(str(error), hint="try again when it has ended") from error
    if undone.changes and not undone.is_preview:
        _tell_model(info, describe(undone))
    if report.as_json:
        report.write_data({"session": info.id, **asdict(undone)})
        return
    report.write_lines(_list_lines(info, undone, verb))


def _tell_model(info: SessionInfo, text: str) -> None:
    """Leave a note that the session reads in its next turn."""

    async def put(store: Store) -> None:
        from amplifier_modules.stores.inbox import STEERING

        await store.put(info.id, STEERING, {"text": text})

    run_on_store(put)


def _list_lines(info: SessionInfo, undone: Undone, verb: str) -> Iterator[str]:
    if not undone.changes:
        yield f"{describe_session(info)} has nothing that can be {verb}"
        return
    would = "would be " if undone.is_preview else ""
    what = count_noun(len(undone.paths), "path")
    yield f"{what} of the project {would}{verb} ({count_noun(undone.changes, 'change')}):"
    for path in undone.paths:
        yield f"  {path.kind:<8}  {path.path}"
    for conflict in undone.conflicts:
        kept = f"; the other version is `{conflict.kept}`" if conflict.kept else ""
        yield f"  left as it is: {conflict.path}: {conflict.reason}{kept}"
    yield from (f"  not possible: {each}" for each in undone.missing)
