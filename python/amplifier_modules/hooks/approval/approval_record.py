"""What is asked of a person, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRecord:
    """A question about a tool call: an answer is for exactly this, once, and in time."""

    question_id: str
    session_id: str
    epoch: int
    """The claim of the session under which it is asked; 1 where the session is not stored."""
    tool: str
    arguments: Mapping[str, Any]
    """All of them, exactly."""
    effect: str
    """What the call does, as far as its tool says."""
    expires_at: float | None
    """When an answer is too late, in seconds since the epoch of the clock; None for never."""

    def describe(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return asdict(self)


def make_record(
    data: Mapping[str, Any], *, session_id: str, epoch: int, now: float
) -> ApprovalRecord:
    """Return the record of a question.

    Args:
        data: The data of `approval:required`.
        session_id: The session that asks, where the event does not say so.
        epoch: The claim of the session.
        now: When it is asked.
    """
    seconds: Any = data.get("timeout")
    is_limited = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    return ApprovalRecord(
        question_id=str(data.get("question_id") or ""),
        session_id=str(data.get("session_id") or session_id),
        epoch=epoch,
        tool=str(data.get("tool_name") or ""),
        arguments=data.get("arguments") or {},
        effect=str(data.get("effect") or ""),
        expires_at=now + seconds if is_limited else None,
    )
