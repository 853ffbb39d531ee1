"""The progress and the outcome of a turn, and the events that report its end."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from types import MappingProxyType
from typing import Any

from amplifier_core.events import EXECUTION_END, ORCHESTRATOR_COMPLETE, TURN_END

from .answers.response import RequestedCall
from .recoverable_errors import GivenUp

AWAITING_APPROVAL = "awaiting_approval"
"""The status of `orchestrator:complete` of a turn that goes on when a person has answered."""


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
    AWAITING_APPROVAL = AWAITING_APPROVAL
    """A person is asked about a call, and answers when the turn has ended, which then goes on."""


ORCHESTRATOR_STATUS = {
    Outcome.COMPLETED: "success",
    Outcome.INCOMPLETE: "incomplete",
    Outcome.CANCELLED: "cancelled",
    Outcome.GIVEN_UP: "incomplete",
    Outcome.ERROR: "incomplete",
    Outcome.AWAITING_APPROVAL: AWAITING_APPROVAL,
}
EXECUTION_STATUS = {
    Outcome.COMPLETED: "completed",
    Outcome.INCOMPLETE: "completed",
    Outcome.CANCELLED: "cancelled",
    Outcome.GIVEN_UP: "error",
    Outcome.ERROR: "error",
    Outcome.AWAITING_APPROVAL: "completed",
}

CANCELLED = "The turn was cancelled before it was finished."


def closing_message(text: str) -> dict[str, Any]:
    """Return a message that ends a conversation after the results of tools."""
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


logger = logging.getLogger(__name__)

Ending = tuple[str, dict[str, Any]]
"""An event and its payload."""


ENDINGS = (TURN_END, ORCHESTRATOR_COMPLETE, EXECUTION_END)
"""The events that close each turn."""


class TurnReport:
    """The progress of a turn: its answer, its model calls, and why it ends."""

    answer = ""
    """The text of the last response that has text."""
    iterations = 0
    """How many times the model was called."""
    reason: str | None = None
    """Why the turn ends without an answer, or before the model was done."""
    details: Mapping[str, Any] = MappingProxyType({})
    """Which step a hook denied, or which tool failed, and why, for `orchestrator:complete`."""
    goal_final: dict[str, Any] | None = None
    """How the pursuit of a goal ended; None without one."""

    def __init__(self, orchestrator: str) -> None:
        """Report on a turn of this loop."""
        self.orchestrator = orchestrator

    def deny(self, event: str, reason: str) -> None:
        """Note that a hook denied the step of this event."""
        self.answer = f"Operation denied: {reason}"
        self.details = {"denied": {"event": event, "reason": reason}}
        self.reason = reason

    def give_up(self, given_up: GivenUp) -> None:
        """Note that the loop ends the turn because of errors of the model."""
        self.reason = given_up.reason
        self.details = {"error": {"tool_name": given_up.tool_name, "msg": given_up.reason}}
        self.answer = self.answer or f"The turn was ended: {given_up.reason}."
        logger.warning("the turn was ended: %s", given_up.reason)

    def await_approval(self, calls: Sequence[RequestedCall]) -> None:
        """Note that the turn ends before people have answered about these calls."""
        names = ", ".join(f"`{call.name}`" for call in calls)
        what = "a call of" if len(calls) == 1 else "calls of"
        self.reason = f"{what} {names} must be approved"

    def make_endings(self, outcome: Outcome) -> Iterator[Ending]:
        """Yield the closing events of a turn, each once; `turn_count` is its number of model calls."""
        status = EXECUTION_STATUS[outcome]
        about = {"orchestrator": self.orchestrator, "turn_count": self.iterations}
        yield TURN_END, {**about, "status": status}
        completion = {
            **about,
            "status": ORCHESTRATOR_STATUS[outcome],
            **self.details,
            **({} if self.reason is None else {"reason": self.reason}),
            **({} if self.goal_final is None else {"goal_final": self.goal_final}),
        }
        yield ORCHESTRATOR_COMPLETE, completion
        yield EXECUTION_END, {"response": self.answer, "status": status}
