"""The rows of sessions that begin, of their own or as forks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_core import world

from .store import NewSession, SessionInfo


def make_session_row(
    session_id: str, owner: str, new: NewSession, due: float | None
) -> SessionInfo:
    """Return the row of a session that begins, whose only event says where it comes from."""
    return SessionInfo(
        id=session_id,
        parent=new.parent,
        call=new.call,
        base=None,
        base_number=0,
        epoch=1,
        head=1,
        owner=owner,
        due=due,
        written=world.time(),
        meta=new.meta,
    )


def make_fork_row(new_id: str, base: str, number: int, meta: Mapping[str, Any]) -> SessionInfo:
    """Return the row of a fork.

    Args:
        new_id: Its id.
        base: The session that has the last event of both.
        number: The number of that event.
        meta: The `meta` of the fork.
    """
    return SessionInfo(
        id=new_id,
        parent=None,
        call=None,
        base=base,
        base_number=number,
        epoch=0,
        head=number + 1,
        owner=None,
        due=None,
        written=world.time(),
        meta=meta,
    )
