"""The changes of a stored session."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from amplifier_app.failure import Failure
from amplifier_app.outcome import WRONG_USAGE
from amplifier_app.printable import printable_line
from amplifier_app.sessions.choice import find_latest, find_session
from amplifier_app.sessions.opening import run_on_store
from amplifier_modules.changes.change import ChangeError
from amplifier_modules.changes.place import find_changes_folder
from amplifier_modules.changes.rewind_point import RewindPointError
from amplifier_modules.changes.session_changes import SessionChanges
from amplifier_modules.changes.session_lock import ChangesInUseError
from amplifier_modules.stores.stored_turns import StoredTurns, read_turns

from .undone_lines import write_reason

if TYPE_CHECKING:
    from amplifier_modules.stores import SessionInfo, Store


def open_changes(name: str | None, folder: Path) -> tuple[SessionInfo, SessionChanges]:
    """Return a session and its changes.

    Args:
        name: What names the session; None for the last one of the folder.
        folder: Its sessions are meant first.

    Raises:
        Failure: There is no such session.
    """

    async def find(store: Store) -> SessionInfo:
        infos = await store.sessions()
        return find_latest(infos, folder) if name is None else find_session(infos, name, folder)

    info = run_on_store(find)
    return info, SessionChanges(find_changes_folder(), info.id)


def read_stored_turns(info: SessionInfo) -> StoredTurns:
    """Return the turns of a session.

    Raises:
        Failure: The store cannot be read.
    """

    async def read(store: Store) -> StoredTurns:
        return read_turns(await store.read(info.id))

    return run_on_store(read)


@contextmanager
def reporting_change_errors() -> Generator[None]:
    """Raise what is wrong with kept changes as a failure of the command."""
    try:
        yield
    except ChangesInUseError as error:
        raise Failure(str(error), hint="try again when it has ended") from error
    except RewindPointError as error:
        hint = "`amplifier-core diff --list`, or `/diff`, shows what there is"
        raise Failure(printable_line(str(error)), hint=hint, exit_code=WRONG_USAGE) from error
    except ChangeError as error:
        raise Failure(write_reason(str(error))) from error
    except OSError as error:
        message = f"`{error.filename}` cannot be used: {error.strerror}"
        raise Failure(message, hint="check the folder of the changes") from error
