"""How a run ended, and the exit code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

COMPLETE = 0
FAILED = 1
WRONG_USAGE = 2
CUT_SHORT = 3
INTERRUPTED = 130
READER_GONE = 141
"""Exit codes; 141 is that of a program ended by SIGPIPE."""

Status: TypeAlias = Literal["completed", "truncated", "denied", "cancelled", "limit", "error"]
"""How a run ended, in the words of `amplifier_agent.Result`."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The end of a run."""

    status: Status
    reason: str | None = None
    """Why it is not `completed`."""
    text: str = ""
    """The answer; what there is of it unless `completed`."""
    content: Sequence[Mapping[str, Any]] = ()
    """The text and tool results of the turn, as blocks of the Claude dialect."""
    usage: Mapping[str, int] | None = None
    """Tokens; None if no turn ran."""
    cost: str | None = None
    """US dollars; None if a price is not known."""
    goal: Mapping[str, Any] | None = None
    """What became of the goal; None for a run without one."""
    error: Mapping[str, Any] | None = None
    """The `type`, `message` and `hint` of a failure."""
    session_id: str | None = None
    """The stored session; None for one that is not kept."""
    exit_code: int = COMPLETE

    @property
    def has_answer(self) -> bool:
        """Whether there is an answer, or a part of one."""
        return self.status not in ("denied", "error")

    def list_data(self) -> dict[str, Any]:
        """Return what the outcome line holds."""
        return {
            "status": self.status,
            "reason": self.reason,
            "text": self.text,
            "content": list(self.content),
            "usage": None if self.usage is None else dict(self.usage),
            "cost": self.cost,
            "error": None if self.error is None else dict(self.error),
            **({} if self.goal is None else {"goal": dict(self.goal)}),
            **({} if self.session_id is None else {"session_id": self.session_id}),
        }


def outcome_of_signal(reason: str = "interrupted", exit_code: int = INTERRUPTED) -> Outcome:
    """Return the outcome of a run that a signal ended."""
    return Outcome(status="cancelled", reason=reason, exit_code=exit_code)
