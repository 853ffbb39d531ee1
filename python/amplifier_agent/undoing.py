"""Taking back what the turns of a session have changed in the project."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from amplifier_core.session_capabilities import SESSION_JOURNAL
from amplifier_modules.changes.mounting import find_session_changes
from amplifier_modules.changes.rewind_point import NamedChange, RewindPoint, find_point
from amplifier_modules.changes.undone import Undone, describe_redo, describe_undo
from amplifier_modules.contexts.history_events import HOOK, from_source
from amplifier_modules.stores.stored_turns import StoredTurns, read_turns

from .rewound import Rewound, SessionT

if TYPE_CHECKING:
    from amplifier_modules.changes.recorded_change import RecordedChange
    from amplifier_modules.changes.session_changes import SessionChanges


async def undo_last_turn(coordinator: Any, *, preview: bool) -> Undone:
    """Take back what the last turn that changed something has changed, and tell the model."""
    changes = require_changes(coordinator)
    return await undo_changes(coordinator, changes, changes.list_last_turn, preview=preview)


async def find_rewind_point(
    coordinator: Any, to: int | str, *, files: bool, conversation: bool
) -> RewindPoint:
    """Return what a session is to go back to.

    Args:
        coordinator: That of the session.
        to: The id of a change or a turn, or the number of an event.
        files: Whether changes are to be taken back.
        conversation: Whether a fork is to go on from there.

    Raises:
        RewindPointError: There is none of this name, or it is taken back.
        RuntimeError: The session keeps no changes, or is not stored.
    """
    changes = require_changes(coordinator) if files else find_session_changes(coordinator)
    session_id = str(coordinator.session_id)
    turns = await read_stored_turns(coordinator)
    if turns is None and conversation:
        raise RuntimeError(f"session `{session_id}` is not stored, so it has no forks")
    recorded: Sequence[RecordedChange] = ()
    if changes is not None:
        recorded = await anyio.to_thread.run_sync(changes.list_changes)
    return find_point(to, recorded, turns, session_id)


async def read_stored_turns(coordinator: Any) -> StoredTurns | None:
    """Return the turns of a session as they are stored; None if they are not."""
    journal = coordinator.get_capability(SESSION_JOURNAL)
    if journal is None:
        return None
    await journal.flush()
    if not journal.is_stored:
        return read_turns(())
    return read_turns(await journal.store.read(journal.session_id))


async def list_named_changes(coordinator: Any) -> list[NamedChange]:
    """Return the changes of a session that were not taken back."""
    changes = require_changes(coordinator)
    turns = await read_stored_turns(coordinator)
    return await anyio.to_thread.run_sync(changes.list_named, turns)


async def rewind_files(
    coordinator: Any, point: RewindPoint | None, fork: SessionT | None, *, preview: bool
) -> Rewound[SessionT]:
    """Take back what was changed after a moment of the session, and tell the model.

    Args:
        coordinator: That of the session.
        point: The moment; None to leave the files alone.
        fork: The session that goes on from there.
        preview: Whether to look only.
    """
    if point is None:
        return Rewound(is_preview=preview, fork=fork)
    later = point.changes
    changes = require_changes(coordinator)
    undone = await undo_changes(coordinator, changes, lambda: later, preview=preview)
    return Rewound(**vars(undone), fork=fork)


async def undo_changes(
    coordinator: Any,
    changes: SessionChanges,
    choose: Callable[[], Sequence[RecordedChange]],
    *,
    preview: bool,
) -> Undone:
    """Take back what `choose` returns, and tell the model."""

    def undo() -> Undone:
        return changes.undo(choose(), preview=preview)

    undone = await anyio.to_thread.run_sync(undo)
    if not preview and undone.changes:
        await tell_model(coordinator, describe_undo(undone))
    return undone


async def redo_turn(coordinator: Any, *, preview: bool) -> Undone:
    """Make again what was taken back last, and tell the model."""
    changes = require_changes(coordinator)

    def redo() -> Undone:
        return changes.redo(changes.list_undone_turn(), preview=preview)

    redone = await anyio.to_thread.run_sync(redo)
    if not preview and redone.changes:
        await tell_model(coordinator, describe_redo(redone))
    return redone


def require_changes(coordinator: Any) -> SessionChanges:
    """Return the changes of a session.

    Raises:
        RuntimeError: It keeps none.
    """
    changes = find_session_changes(coordinator)
    if changes is None:
        raise RuntimeError(
            f"session `{coordinator.session_id}` keeps no changes that can be undone: it has no tool"
            " that writes, or this machine cannot keep them (see `docs/guide/undo.md`)"
        )
    return changes


async def tell_model(coordinator: Any, text: str) -> None:
    """Add what happened between two turns to the end of the conversation, and store it."""
    context = coordinator.get("context")
    if context is None:
        return
    with from_source(HOOK):
        await context.add_message({"role": "user", "content": text})
    journal = coordinator.get_capability(SESSION_JOURNAL)
    if journal is not None:
        await journal.flush()
