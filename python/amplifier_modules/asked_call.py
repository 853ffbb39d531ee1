"""The tool call that a person is being asked about."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class AskedCall:
    """A question about a call: who answers it sees the tool and all its arguments."""

    question_id: str
    tool_name: str
    arguments: dict[str, Any]


ASKED_CALL: ContextVar[AskedCall] = ContextVar("asked_call")
"""Set by a loop while the kernel asks."""
