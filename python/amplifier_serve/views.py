"""What clients see of sessions, whether by a store or over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from amplifier_core.events import ORCHESTRATOR_COMPLETE
from amplifier_modules.contexts.history_events import CONTEXT_MESSAGE
from amplifier_modules.loops.turn_report import AWAITING_APPROVAL

TURN_FAILED = "turn:failed"
"""The kind of the event that says why a turn has failed: its `error`, in one line."""
SessionState = Literal["running", "due", "resting"]


@dataclass(frozen=True, slots=True)
class SessionEvent:
    """Something that has happened in a session."""

    number: int
    """1 for the first event of a session; there are no gaps."""
    kind: str
    """Such as `execution:start`, `context:message`, `tool:start` and `orchestrator:complete`."""
    data: Any
    """What it says, as JSON."""

    @property
    def ends_turn(self) -> bool:
        """Whether a turn has ended: that it waits for an answer does not end it."""
        return self.kind == ORCHESTRATOR_COMPLETE and self.status != AWAITING_APPROVAL

    @property
    def status(self) -> str | None:
        """How the turn ended, such as `success`, or that it is `awaiting_approval`; else None."""
        return str(self.data["status"]) if self.kind == ORCHESTRATOR_COMPLETE else None

    @property
    def text(self) -> str:
        """What the model says in a message; empty in any other event."""
        message: Any = self.data.get("message") if self.kind == CONTEXT_MESSAGE else None
        if message is None or message["role"] != "assistant":
            return ""
        content: str | list[dict[str, Any]] = message["content"]
        if isinstance(content, str):
            return content
        return "".join(str(each["text"]) for each in content if each.get("type") == "text")


@dataclass(frozen=True, slots=True)
class Submission:
    """A prompt that is stored, and will be a turn."""

    session_id: str
    """Where it is said."""
    entry: int
    """The `entry` of the `execution:start` of its turn."""
    number: int
    """The number of the last event before it: `follow` from there on shows the turn."""


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """What lists show of a session."""

    id: str
    agent: str
    folder: str | None
    title: str
    state: SessionState
    """`running` in a worker, `due` for one, or `resting` until something is sent."""
    number: int
    """The number of its last event."""
    written: float
    """When its last event was stored, in seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """What a session asks a person."""

    id: str
    action: str
    """The question."""
    tool_name: str
    arguments: Mapping[str, Any]
    seconds_left: float | None
    """How long a person has to answer; None for no limit."""


def describe(view: Submission | SessionSummary | AskedQuestion) -> dict[str, Any]:
    """Return a view as JSON has it."""
    return asdict(view)
