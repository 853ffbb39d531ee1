"""The changes of a session, which its tools record."""

from __future__ import annotations

import os
from typing import Any

import anyio.to_thread

from amplifier_core.events import EXECUTION_END, EXECUTION_START
from amplifier_core.extension import find_extension
from amplifier_core.session_capabilities import PROJECT_CHANGES, SESSION_JOURNAL, TURN_GOES_ON
from amplifier_core.weak_link import link_weakly
from amplifier_modules.running.session_bound import session_bound
from amplifier_modules.tool.context import ToolContext

from .open_change import Call
from .place import find_changes_folder
from .session_changes import SessionChanges

_FIRST = -(2**31)
"""The priority of what comes before all others."""


def mount_changes(coordinator: Any) -> SessionChanges | None:
    """Return the changes of a session; None where none can be kept.

    Sub-agents have those of the session that they work for. They go with the session unless that
    is stored.
    """
    known = find_session_changes(coordinator)
    # Files with secrets are found by the extension, and a lock on a folder is one of POSIX.
    if known is not None or os.name != "posix" or find_extension() is None:
        return known
    find_coordinator = link_weakly(coordinator)

    def find_event() -> int | None:
        journal = find_coordinator().get_capability(SESSION_JOURNAL)
        return None if journal is None else journal.last_number

    changes = SessionChanges(find_changes_folder(), str(coordinator.session_id), find_event)

    @session_bound
    def begin_turn(_event: str, _data: dict[str, Any]) -> None:
        changes.begin_turn(_list_held(find_coordinator()))

    @session_bound
    def end_turn(_event: str, _data: dict[str, Any]) -> None:
        changes.end_turn()

    async def close() -> None:
        if not changes.is_touched():
            return
        is_stored = find_coordinator().get_capability(SESSION_JOURNAL) is not None
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(lambda: changes.close(keep=is_stored))

    coordinator.hooks.register(EXECUTION_START, begin_turn, _FIRST, "changes")
    coordinator.hooks.register(EXECUTION_END, end_turn, _FIRST, "changes")
    coordinator.register_cleanup(close)
    coordinator.register_capability(PROJECT_CHANGES, changes)
    return changes


def _list_held(coordinator: Any) -> list[str] | None:
    """Return the hashes of the layers that a person is still asked about, as the turn goes on.

    None for all that are held: a sub-agent that goes on may have asked.
    """
    journal = coordinator.get_capability(SESSION_JOURNAL)
    if journal is None or coordinator.get_capability(TURN_GOES_ON) is not True:
        return []
    if not journal.tasks.is_empty():
        return None
    return [each["layer"] for each in journal.questions.list_asking() if "layer" in each]


def find_session_changes(coordinator: Any) -> SessionChanges | None:
    """Return the changes of a session, if it keeps them."""
    find = getattr(coordinator, "get_capability", None)
    found = find(PROJECT_CHANGES) if callable(find) else None
    return found if isinstance(found, SessionChanges) else None


def describe_call(tool: str) -> Call:
    """Return the call of a tool that runs here."""
    try:
        context = ToolContext.current()
    except LookupError:
        return Call(tool)
    session_id = getattr(context.coordinator, "session_id", None)
    return Call(tool, context.call_id, None if session_id is None else str(session_id))
