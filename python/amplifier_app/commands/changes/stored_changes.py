"""The changes of a stored session."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from amplifier_app.failure import Failure
from amplifier_app.sessions.choice import find_latest, find_session
from amplifier_app.sessions.opening import run_on_store
from amplifier_modules.changes.change import ChangeError
from amplifier_modules.changes.place import find_changes_folder
from amplifier_modules.changes.session_changes import SessionChanges
from amplifier_modules.changes.session_lock import ChangesInUseError

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


@contextmanager
def reporting_change_errors() -> Generator[None]:
    """Raise what is wrong with kept changes as a failure of the command."""
    try:
        yield
    except ChangesInUseError as error:
        raise Failure(str(error), hint="try again when it has ended") from error
    except ChangeError as error:
        raise Failure(write_reason(str(error))) from error
    except OSError as error:
        message = f"`{error.filename}` cannot be used: {error.strerror}"
        raise Failure(message, hint="check the folder of the changes") from error
