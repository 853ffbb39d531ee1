"""`amplifier-core session rename`, `fork` and `delete`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amplifier_app.commands.report import Report
from amplifier_app.failure import Failure
from amplifier_app.outcome import WRONG_USAGE
from amplifier_app.sessions.choice import (
    describe_fork,
    describe_session,
    find_session,
)
from amplifier_app.sessions.opening import run_on_store
from amplifier_app.sessions.process import find_process
from amplifier_core import world

if TYPE_CHECKING:
    from amplifier_modules.stores import SessionInfo, Store


def rename_session(
    report: Report, text: str, name: str, folder: Path, entry: Mapping[str, Any] | None
) -> None:
    """Give a session a name.

    Raises:
        Failure: There is no such session, a process has it open, or the name is empty.
    """
    if not name.strip():
        raise Failure("the name is empty", hint="give one, in quotes", exit_code=WRONG_USAGE)

    async def rename(store: Store) -> SessionInfo:
        info = find_session(await store.sessions(), text, folder)
        refuse_open(info)
        claim = await store.claim(info.id, "session rename")
        claim = await store.append(claim, [], meta={**info.meta, "name": name.strip()})
        await store.end(claim)
        return info

    info = run_on_store(rename, entry)
    report.write_lines([f"{describe_session(info)} is named `{name.strip()}`"])


def fork_session(
    report: Report, text: str, at: int | None, folder: Path, entry: Mapping[str, Any] | None
) -> None:
    """Make a session that has the events of another up to a number, and write its id.

    Raises:
        Failure: There is no such session or event.
    """

    async def fork(store: Store) -> SessionInfo:
        info = find_session(await store.sessions(), text, folder)
        try:
            return await store.fork(info.id, str(world.new_uuid()), at=at, meta=describe_fork(info))
        except ValueError as error:
            hint = f"`amplifier-core session show {info.id}` shows the numbers"
            raise Failure(str(error), hint=hint, exit_code=WRONG_USAGE) from None

    made = run_on_store(fork, entry)
    report.write_lines([made.id])
    report.say_aside(f"`amplifier-core --resume {made.id}` goes on with it")


def delete_session(
    report: Report, text: str, folder: Path, entry: Mapping[str, Any] | None, *, is_sure: bool
) -> None:
    """Delete a session with its sub-agents, once a person has said so.

    Raises:
        Failure: There is no such session, a process has it open, or nobody can be asked.
    """

    async def find(store: Store) -> SessionInfo:
        return find_session(await store.sessions(), text, folder)

    info = run_on_store(find, entry)
    refuse_open(info)
    if not is_sure and not report.ask(f"delete {describe_session(info)} for ever?"):
        report.say_aside("nothing is deleted")
        return
    run_on_store(lambda store: store.delete(info.id), entry)
    _remove_changes(info.id)
    report.write_lines([f"{describe_session(info)} is deleted"])


def _remove_changes(session_id: str) -> None:
    """Remove what could be taken back of a session; the project stays as it is."""
    from amplifier_modules.changes.place import find_changes_folder
    from amplifier_modules.changes.session_changes import SessionChanges

    SessionChanges(find_changes_folder(), session_id).close(keep=False)


def refuse_open(info: SessionInfo) -> None:
    """Refuse what a running process that has the session open would not survive.

    Raises:
        Failure: There is one on this machine.
    """
    if (process := find_process(info)) is not None:
        message = f"{describe_session(info)} is open in process {process}"
        raise Failure(message, hint="end that conversation first")
