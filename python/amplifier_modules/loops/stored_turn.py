"""What is stored of a turn that another process has left open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ..contexts.history_events import GOAL
from ..contexts.messages import Message, find_calls
from .answers.response import RequestedCall, join_texts

ERRORS = "state:errors"
"""The kind of the rows with the errors of a model that it can correct."""

StoredRound: TypeAlias = list[tuple[RequestedCall, Message]]
"""The calls of an answer, each with the message of its result."""


@dataclass(slots=True)
class StoredTurn:
    """A turn as the events of its session tell it."""

    goal: str | None = None
    """The goal that it pursued last; None if there was none."""
    rounds: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """The rounds of the goal that were judged."""
    has_open_round: bool = False
    """Whether nothing has followed the last of them."""
    finish_reason: Any = None
    """Why the model ended its last answer."""
    iterations: int = 0
    """How many times the model was called."""
    spent: dict[str, Any] | None = None
    """What it has used of its budget; None where that is not known."""
    errors: Any = None
    """The errors that the model was told of, as `Recovery.restore` takes them."""
    results: dict[str, Message] = field(default_factory=dict[str, Message])
    """The messages of the results of its calls, as they ended, by their ids."""
    notes: dict[str, str | None] = field(default_factory=dict[str, str | None])
    """What the model reads before the results of its last round, by the ids of the calls."""
    _messages: list[tuple[str | None, Message]] = field(
        default_factory=list[tuple[str | None, Message]]
    )

    def add_message(self, source: str | None, message: Message) -> None:
        """Take a message of the conversation into account."""
        if message.get("role") in ("assistant", "tool") or source == GOAL:
            self._messages.append((source, message))
        if source == GOAL:
            self.has_open_round = False

    def add_round(self, judged: dict[str, Any]) -> None:
        """Take a round of the goal into account."""
        self.rounds.append(judged)
        self.has_open_round = True

    def count_answer(self, data: Mapping[str, Any]) -> None:
        """Take the event `llm:post` of an answer into account."""
        if data.get("status") == "ok" and "purpose" not in data:
            self.finish_reason = data.get("finish_reason")
            self.iterations = data.get("iteration", self.iterations + 1)

    def list_ended(self) -> list[StoredRound]:
        """Return the rounds of calls that have all ended, each result as its tool gave it."""
        return list(self._list_rounds(self.results))

    def list_unjudged(self) -> list[StoredRound]:
        """Return the rounds of calls behind the last judgement, with the results that were read."""
        return list(self._list_rounds({}, is_unjudged=True))

    def find_answer(self) -> str:
        """Return the text of the last answer that has one; an empty one without."""
        for _, message in reversed(self._messages):
            if message["role"] == "assistant" and (text := join_texts(message["content"])):
                return text
        return ""

    def _list_rounds(
        self, ended: Mapping[str, Message], *, is_unjudged: bool = False
    ) -> Iterator[StoredRound]:
        results = {each.get("tool_call_id"): each for _, each in self._messages} | {**ended}
        first = 0
        if is_unjudged:
            sources = [source for source, _ in self._messages]
            first = len(sources) - sources[::-1].index(GOAL) if GOAL in sources else 0
        for _, message in self._messages[first:]:
            calls = find_calls(message) if message["role"] == "assistant" else {}
            if calls and calls.keys() <= results.keys():
                yield [(RequestedCall(id, *call), results[id]) for id, call in calls.items()]
