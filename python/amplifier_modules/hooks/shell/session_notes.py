"""What hooks have said of a session that counts later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Notes:
    """Those of one session."""

    contexts: list[str] = field(default_factory=list[str])
    """What the model reads in its next request."""
    stop_reason: str | None = None
    """Why the turn ends before its next request; None if it does not."""
    stops: int = 0
    """How often the turn went on because of a hook."""
    steered: set[str] = field(default_factory=set[str])
    """Messages of hooks that are on the way to the model."""
    questions: dict[str, str] = field(default_factory=dict[str, str])
    """What hooks have a person asked, by the ids of calls."""
    has_tagged_call: bool = False
    """Whether the answer that arrives has a call in its text."""


class SessionNotes:
    """The notes of a session and of its sub-agents."""

    def __init__(self) -> None:
        """Begin without any."""
        self._notes: dict[str, Notes] = {}

    def get_notes(self, data: Mapping[str, Any]) -> Notes:
        """Return the notes of the session that an event is of."""
        return self._notes.setdefault(str(data.get("session_id")), Notes())

    def forget(self, data: Mapping[str, Any]) -> None:
        """Drop the notes of the session that an event is of."""
        self._notes.pop(str(data.get("session_id")), None)
