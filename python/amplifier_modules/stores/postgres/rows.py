"""The rows of events and sessions: written with a checksum, and checked when they are read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, cast

from ..errors import DamagedSessionError
from ..json_text import BLOB, FindPart, read_json, write_json
from ..row_checks import compute_checksum
from ..store import SessionInfo, StoredEvent

BODY_BYTES = 64 * 1024
"""A body longer than this is stored once, by its hash."""

_BLOB_START, _BLOB_END = f'{{"{BLOB}":"', '"}'
_PART_CHARS = 256 * 1024
"""Characters of a long text that are stored together."""


@dataclass(slots=True)
class LongTexts:
    """Long texts that are stored by their hashes, as columns."""

    are_bodies: list[bool] = field(default_factory=list[bool])
    hashes: list[str] = field(default_factory=list[str])
    contents: list[bytes] = field(default_factory=list[bytes])

    @property
    def columns(self) -> tuple[list[bool], list[str], list[bytes]]:
        """The three columns."""
        return self.are_bodies, self.hashes, self.contents

    def add(self, content: bytes, *, is_body: bool) -> str:
        """Add one; return its hash."""
        name = hashlib.sha256(content).hexdigest()
        self.are_bodies.append(is_body)
        self.hashes.append(name)
        self.contents.append(content)
        return name

    def put_aside(self, text: str) -> list[str] | None:
        """Add a long text in parts; return their hashes, or None for one that has no UTF-8."""
        starts = range(0, len(text), _PART_CHARS)
        try:
            parts = [text[start : start + _PART_CHARS].encode() for start in starts]
        except UnicodeEncodeError:
            return None
        return [self.add(each, is_body=False) for each in parts]


class EventRows:
    """New events, as columns."""

    def __init__(self, session_id: str, epoch: int, head: int) -> None:
        """Begin behind the number `head`."""
        self._session_id = session_id
        self._epoch = epoch
        self._head = head
        self.kinds: list[str] = []
        self.bodies: list[str] = []
        self.checksums: list[int] = []
        self.texts = LongTexts()

    def add(self, kind: str, value: Any) -> None:
        """Add an event.

        Raises:
            ValueError: It cannot be stored.
        """
        self.add_text(kind, write_json(value, self.texts.put_aside))

    def add_text(self, kind: str, body: str) -> None:
        """Add an event whose body is a text of JSON."""
        # A character has at most four bytes.
        if len(body) * 4 > BODY_BYTES and len(content := body.encode()) > BODY_BYTES:
            body = f"{_BLOB_START}{self.texts.add(content, is_body=True)}{_BLOB_END}"
        number = self._head + len(self.kinds) + 1
        self.kinds.append(kind)
        self.bodies.append(body)
        self.checksums.append(compute_checksum(self._session_id, number, self._epoch, kind, body))


@dataclass(frozen=True, slots=True)
class Part:
    """Events of a session that lie together."""

    number: int
    session_id: str
    first: int
    last: int


def list_parts(chain: Sequence[Any], last: int) -> list[Part]:
    """Return where the events of a session up to a number are, the oldest first.

    Args:
        chain: The rows of the session and of those that it is a fork of.
        last: The number.

    Raises:
        DamagedSessionError: An origin is missing.
    """
    parts: list[Part] = []
    end = last
    for row in chain:
        if end > row["base_seq"]:
            parts.append(Part(row["number"], row["id"], row["base_seq"] + 1, end))
        end = min(end, row["base_seq"])
    if (base := chain[-1]["base"]) is not None:
        raise DamagedSessionError(chain[0]["id"], end, f"its origin `{base}` is missing")
    return parts[::-1]


def trim_parts(parts: Iterable[Part], after: int) -> list[Part]:
    """Return the parts without the events up to a number."""
    return [replace(each, first=max(each.first, after + 1)) for each in parts if each.last > after]


def find_hashes(rows: Iterable[Any]) -> set[str]:
    """Return the hashes that rows have in the place of their bodies."""
    return {
        row["body"][len(_BLOB_START) : -len(_BLOB_END)]
        for row in rows
        if row["body"].startswith(_BLOB_START)
    }


def find_parts(body: str) -> set[str]:
    """Return the hashes of the parts of long texts that a body has."""
    found: set[str] = set()

    def note(name: str) -> str:
        found.add(name)
        return ""

    with suppress(ValueError):  # whoever reads the row says that it is damaged
        read_json(body, note)
    return found


def read_rows(
    parts: Iterable[Part], rows: Sequence[Any], texts: Mapping[str, bytes]
) -> list[StoredEvent]:
    """Return the events of rows that follow one another.

    Args:
        parts: Where they are.
        rows: Their rows.
        texts: The long texts, by their hashes.

    Raises:
        DamagedSessionError: One is missing, or is not what was written.
    """
    events: list[StoredEvent] = []
    place = 0
    for part in parts:
        last_epoch = 0
        for number in range(part.first, part.last + 1):
            row = rows[place] if place < len(rows) else None
            if row is None or row["seq"] != number:
                raise DamagedSessionError(part.session_id, number, "the event is missing")
            epoch, kind, body = row["epoch"], row["kind"], row["body"]
            crc = compute_checksum(part.session_id, number, epoch, kind, body)
            if crc != row["crc"] or epoch < last_epoch:
                raise DamagedSessionError(part.session_id, number, "its checksum does not match")
            find = _make_finder(part.session_id, number, texts)
            if body.startswith(_BLOB_START):
                body = find(body[len(_BLOB_START) : -len(_BLOB_END)])
            events.append(StoredEvent(number, epoch, kind, read_json(body, find)))
            place, last_epoch = place + 1, epoch
    return events


def read_info(row: Any) -> SessionInfo:
    """Return what the row of a session says.

    Raises:
        DamagedSessionError: It is none.
    """
    try:
        meta: Any = read_json(row["meta"])
    except ValueError:
        meta = None
    if not isinstance(meta, dict):
        raise DamagedSessionError(row["id"], 0, "its row cannot be read")
    return SessionInfo(
        id=row["id"],
        parent=row["parent"],
        call=row["call"],
        base=row["base"],
        base_number=row["base_seq"],
        epoch=row["epoch"],
        head=row["head"],
        owner=row["owner"],
        due=row["due"],
        written=row["written"],
        meta=cast("dict[str, Any]", meta),
    )


def compute_entry_checksum(session: int, id: int, kind: str, body: str) -> int:
    """Return the checksum of an entry of an inbox that is not done, as the database computes it."""
    text = "\n".join((str(session), str(id), "0", kind, body))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big")


def _make_finder(session_id: str, number: int, texts: Mapping[str, bytes]) -> FindPart:
    def find(name: str) -> str:
        content = texts.get(name)
        if content is None or hashlib.sha256(content).hexdigest() != name:
            problem = "its long body is missing or is not what was written"
            raise DamagedSessionError(session_id, number, problem)
        return content.decode()

    return find
