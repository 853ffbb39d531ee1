"""A task that a sub-agent does: what it is, how it stands, what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from amplifier_providers.prices.amounts import read_count, sum_counts

TASK_START = "task:start"
"""Event: a sub-agent begins a task."""
TASK_END = "task:end"
"""Event: a task is over, however it ended."""

TOKENS = (
    "input_tokens",
    "output_tokens",
    "reasoning_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
)
"""The counts of the kernel's `Usage` that a task has."""

TaskStatus = Literal[
    "completed", "truncated", "denied", "cancelled", "limit", "error", "awaiting_approval"
]
"""How a task ended: as the turn of an agent does."""
AWAITING: TaskStatus = "awaiting_approval"
"""The status of a task that goes on when a person has answered, maybe in another process."""


class TaskLimitError(RuntimeError):
    """Sub-agents are nested too deeply, or too many of them work."""


@dataclass(frozen=True)
class Answer:
    """How a turn of a sub-agent ended."""

    status: TaskStatus
    text: str = ""
    reason: str | None = None
    """Why it is not `completed`."""


@dataclass
class Used:
    """What a sub-agent has used, its own sub-agents included."""

    usage: dict[str, int] = field(default_factory=dict[str, int])
    """Tokens by kind, see `TOKENS`."""
    cost: Decimal | None = None
    """US dollars of the calls whose price is known; None without such a call."""
    model_calls: int = 0
    tool_calls: int = 0
    unpriced_calls: int = 0
    """Calls whose price is not known."""

    def add(self, other: Used) -> None:
        """Add what another one has used."""
        for name, count in other.usage.items():
            self.usage[name] = sum_counts((read_count(self.usage.get(name)), read_count(count)))
        if other.cost is not None:
            self.cost = (self.cost or Decimal(0)) + other.cost
        self.model_calls += other.model_calls
        self.tool_calls += other.tool_calls
        self.unpriced_calls += other.unpriced_calls

    def describe_cost(self) -> dict[str, Any]:
        """Return what was paid, for the channel `session.cost`."""
        return {
            "cost_usd": str(self.cost or Decimal(0)),
            "model_calls": self.model_calls,
            "unpriced_calls": self.unpriced_calls,
        }

    def describe_usage(self) -> dict[str, Any]:
        """Return it for the event `task:end`."""
        return {
            "usage": {name: self.usage.get(name, 0) for name in TOKENS},
            "cost_usd": None if self.cost is None else str(self.cost),
            "model_calls": self.model_calls,
            "tool_calls": self.tool_calls,
            "unpriced_calls": self.unpriced_calls,
        }


@dataclass(frozen=True, kw_only=True)
class TaskResult:
    """What came of a task."""

    id: str
    """The id of the task, by which it can be continued."""
    description: str
    status: TaskStatus
    text: str
    """The answer; what there is of it where the task is not `completed`."""
    reason: str | None
    """Why it is not `completed`."""
    session_id: str
    """The id of the child session."""
    used: Used

    @property
    def cost(self) -> Decimal | None:
        """US dollars; None if the price of a call is not known."""
        return None if self.used.unpriced_calls else self.used.cost

    def failure(self) -> str | None:
        """Say that the task is not `completed`, and why; None if it is."""
        if self.status == "completed":
            return None
        return f"the task `{self.id}` ended as `{self.status}`: {self.reason}"


@dataclass(frozen=True, kw_only=True)
class TaskInfo:
    """The state of a task."""

    id: str
    description: str
    status: TaskStatus | Literal["running"]
    is_background: bool
    session_id: str
    """The id of the child session."""
