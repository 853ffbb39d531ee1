"""What a page shows of a session: its turns, and the steps of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

StepKind: TypeAlias = Literal["model", "tool", "question", "compaction", "note"]
"""A call of a model or a tool, a question to a person, a compaction, or anything else that was said."""

COUNTS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
"""The counts of tokens that are shown."""


class Block(NamedTuple):
    """A text of a step."""

    kind: str
    """What it is, such as `text`, `thinking`, `arguments` or `result`."""
    text: str


@dataclass(slots=True)
class Step:
    """One thing that happened."""

    kind: StepKind
    name: str
    """The model, the tool, or who says something."""
    begin: float | None = None
    """Seconds since 1970; None where it is not known."""
    end: float | None = None
    status: str = ""
    """How it ended, where that is not the usual way."""
    usage: dict[str, int] = field(default_factory=dict[str, int])
    """Tokens, see `COUNTS`."""
    cost: float | None = None
    """US dollars; None where the price is not known."""
    blocks: list[Block] = field(default_factory=list[Block])
    call: str = ""
    """The key of a tool's call, or its id: sub-agents name it."""
    turns: list[Turn] = field(default_factory=list["Turn"])
    """What the sub-agents did that the call has started."""

    def describe(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "kind": self.kind,
            "name": self.name,
            "begin": self.begin,
            "end": self.end,
            "status": self.status,
            "usage": self.usage,
            "cost": self.cost,
            "blocks": [list(each) for each in self.blocks],
            "turns": [each.describe() for each in self.turns],
        }


@dataclass(slots=True)
class Turn:
    """A prompt and what followed it."""

    prompt: str
    begin: float | None = None
    end: float | None = None
    status: str = ""
    steps: list[Step] = field(default_factory=list[Step])

    def list_steps(self) -> Iterator[Step]:
        """Yield its steps, those of sub-agents included."""
        for step in self.steps:
            yield step
            for turn in step.turns:
                yield from turn.list_steps()

    def describe(self) -> dict[str, Any]:
        """Return it as JSON, with what its steps have used in all."""
        steps = [*self.list_steps()]
        costs = [each.cost for each in steps if each.cost is not None]
        return {
            "prompt": self.prompt,
            "begin": self.begin,
            "end": self.end,
            "status": self.status,
            "usage": {name: sum(each.usage.get(name, 0) for each in steps) for name in COUNTS},
            "cost": sum(costs) if costs else None,
            "steps": [each.describe() for each in self.steps],
        }
