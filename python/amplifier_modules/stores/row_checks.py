"""What stores check of the rows that they read: checksums, and where a session comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zlib import crc32

from .errors import DamagedSessionError
from .store import META, ORIGIN, SessionInfo, StoredEvent


def compute_checksum(session_id: str, number: int, epoch: int, kind: str, body: str) -> int:
    """Return the checksum of a row: of what it says, and of where it belongs."""
    return crc32(f"{session_id}\0{number}\0{epoch}\0{kind}\0{body}".encode())


def check_row(info: SessionInfo, own: Sequence[StoredEvent]) -> None:
    """Check the row of a session by its own events.

    Raises:
        DamagedSessionError: They disagree.
    """
    first = own[0] if own else None
    if first is None or first.kind != ORIGIN:
        raise DamagedSessionError(info.id, info.base_number + 1, "its first event is missing")
    expected = {**describe_origin(info), "meta": first.body.get("meta")}
    metas = (each.body for each in reversed(own) if each.kind == META)
    if first.body != expected or next(metas, first.body["meta"]) != info.meta:
        raise DamagedSessionError(info.id, first.number, "its first event says otherwise")
    if own[-1].epoch > info.epoch:
        raise DamagedSessionError(info.id, own[-1].number, "its last event has another owner")


def describe_origin(info: SessionInfo) -> dict[str, Any]:
    """Return the body of a session's first event."""
    return {
        "parent": info.parent,
        "call": info.call,
        "base": info.base,
        "base_number": info.base_number,
        "meta": info.meta,
    }
