"""What tool calls have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from amplifier_providers.answers.argument_check import ArgumentCheck
from amplifier_providers.answers.calls_per_answer import USUAL_CALLS

from ..spending.ledger import Ledger
from .boundary.cancellation import TurnCancellation
from .boundary.hook_points import HookPoints
from .boundary.together import Together


@dataclass(slots=True)
class CallRules:
    """What holds for all calls of a turn."""

    longest: float | None = None
    """Seconds after which a tool is ended; None for no limit."""
    max_bytes: int | None = None
    """Bytes of each result in the messages, at most; None for no limit."""
    most_at_once: int | None = None
    """How many calls of one response run at the same time; None for no limit."""
    most_calls: int = USUAL_CALLS
    """How many calls of one response may run."""
    arguments: ArgumentCheck = field(default_factory=ArgumentCheck)
    """Compares the arguments with the schemas of the tools."""
    ledger: Ledger | None = None
    """What the turn may use; None for no limit."""


@dataclass(slots=True)
class CallScope:
    """What the calls of one response have in common."""

    tools: Mapping[str, Any]
    """Mounted tools by name."""
    hooks: HookPoints
    """Where the events go."""
    cancellation: TurnCancellation
    """Whether the turn is cancelled."""
    rules: CallRules
    together: Together
    """Runs them, and whatever else runs at the same time."""
    group_id: str
    """The id that all of them share."""
