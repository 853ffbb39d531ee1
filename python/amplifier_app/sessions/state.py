"""What a stored session does at the moment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from amplifier_app.sessions.process import find_process

if TYPE_CHECKING:
    from amplifier_modules.stores import SessionInfo, Store

_LAST_EVENTS = 50
_MAX_SESSIONS = 100


async def find_states(store: Store, infos: Sequence[SessionInfo]) -> dict[str, str | None]:
    """Return what sessions do, by their ids: `asks`, `running`, `open`, `unfinished` or None.

    Of many, the later ones are not looked at, unless a process has them open.
    """
    states: dict[str, str | None] = {}
    for place, info in enumerate(infos):
        is_open = find_process(info) is not None
        is_looked_at = is_open or place < _MAX_SESSIONS
        states[info.id] = await find_state(store, info, is_open=is_open) if is_looked_at else None
    return states


async def find_state(store: Store, info: SessionInfo, *, is_open: bool) -> str | None:
    """Return what one session does; one that cannot be read does nothing."""
    from amplifier_agent.answering import list_stored_questions
    from amplifier_core.events import EXECUTION_START, ORCHESTRATOR_COMPLETE
    from amplifier_modules.loops.turn_report import AWAITING_APPROVAL
    from amplifier_modules.stores import StoreError

    ends = (EXECUTION_START, ORCHESTRATOR_COMPLETE)
    try:
        last = await store.read(info.id, after=max(0, info.head - _LAST_EVENTS))
        end = next((each for each in reversed(last) if each.kind in ends), None)
        is_over = end is not None and end.kind == ORCHESTRATOR_COMPLETE
        is_over = is_over and end is not None and end.body.get("status") != AWAITING_APPROVAL
        if is_over or (end is None and info.head <= _LAST_EVENTS):
            return "open" if is_open else None
        if await list_stored_questions(store, info.id):
            return "asks"
    except StoreError:
        return None
    return "running" if is_open else "unfinished"
