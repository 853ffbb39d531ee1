"""Writes of file tools that can be taken back."""

from __future__ import annotations

import logging
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from amplifier_modules.changes.mounting import describe_call, find_session_changes
from amplifier_modules.changes.open_change import OpenChange
from amplifier_modules.changes.session_changes import SessionChanges
from amplifier_modules.changes.session_lock import ChangesInUseError
from amplifier_modules.tool.context import ToolContext

from .file_write import FileWrite

logger = logging.getLogger(__name__)


@contextmanager
def record_writes(tool: str, root: str, writes: Sequence[FileWrite]) -> Generator[None]:
    """Keep what files hold before they are written in this block, for the session that runs here.

    Args:
        tool: The tool that writes.
        root: The folder that paths are from.
        writes: What is about to be done.

    Raises:
        OSError: It cannot be kept; nothing was written.
    """
    changes = _find_changes() if writes else None
    if changes is None:
        yield
        return
    try:
        change = changes.begin(root, describe_call(tool))
    except ChangesInUseError as error:
        raise OSError(str(error)) from error
    keeping = _keep_states(changes, tool, root) if change is None else _keep(change, tool, writes)
    with keeping:
        yield


def _find_changes() -> SessionChanges | None:
    try:
        return find_session_changes(ToolContext.current().coordinator)
    except LookupError:
        return None


@contextmanager
def _keep(change: OpenChange, tool: str, writes: Sequence[FileWrite]) -> Generator[None]:
    try:
        change.record_before(_list_contents(writes))
    except BaseException:
        change.drop()
        raise
    try:
        yield
    finally:
        # Also where it failed: what could not be put back at once is taken back by an undo.
        try:
            change.record_after()
        except OSError as error:
            _warn(tool, error)


@contextmanager
def _keep_states(changes: SessionChanges, tool: str, root: str) -> Generator[None]:
    """Keep what git would keep, where versions cannot be kept exactly."""
    try:
        change = changes.begin_tracked(root, describe_call(tool))
    except OSError as error:
        _warn(tool, error)
        yield
        return
    try:
        yield
    finally:
        try:
            change.commit()
        except OSError as error:
            _warn(tool, error)


def _warn(tool: str, error: OSError) -> None:
    logger.warning("a write of `%s` cannot be taken back: %s", tool, error)


def _list_contents(writes: Sequence[FileWrite]) -> dict[str, bytes | None]:
    """Return what each file will hold; None for those that will be gone."""
    contents: dict[str, bytes | None] = {}
    for write in writes:
        if write.old_path is not None:
            contents[write.old_path] = None
        contents[write.path] = write.after
    return contents
