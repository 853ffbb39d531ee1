"""How a turn ends, and what is said of it."""

from __future__ import annotations

from enum import Enum
from typing import Any


class Outcome(Enum):
    """How a turn ended."""

    COMPLETED = "completed"
    INCOMPLETE = "incomplete"
    """A hook refused it, or a limit was reached."""
    CANCELLED = "cancelled"
    GIVEN_UP = "given_up"
    """The same call failed again and again."""
    ERROR = "error"
    """The provider or the context raised."""


ORCHESTRATOR_STATUS = {
    Outcome.COMPLETED: "success",
    Outcome.INCOMPLETE: "incomplete",
    Outcome.CANCELLED: "cancelled",
    Outcome.GIVEN_UP: "incomplete",
    Outcome.ERROR: "incomplete",
}
EXECUTION_STATUS = {
    Outcome.COMPLETED: "completed",
    Outcome.INCOMPLETE: "completed",
    Outcome.CANCELLED: "cancelled",
    Outcome.GIVEN_UP: "error",
    Outcome.ERROR: "error",
}

CANCELLED = "The turn was cancelled before it was finished."


def closing_message(text: str) -> dict[str, Any]:
    """Return a message that ends a conversation after the results of tools."""
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}
