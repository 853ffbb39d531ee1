"""What going back in a session came to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from amplifier_modules.changes.undone import Undone

SessionT = TypeVar("SessionT")


@dataclass(frozen=True)
class Rewound(Undone, Generic[SessionT]):
    """What was taken back in the project, and the session that goes on from there."""

    fork: SessionT | None = None
    """Use it with `async with`; None in a preview, and where the conversation was not asked for."""
