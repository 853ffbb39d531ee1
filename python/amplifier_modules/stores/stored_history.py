"""What a stored session knows: its conversation, and what was under way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from amplifier_core import events

from ..contexts import history_events
from ..contexts.messages import call_names
from ..loops.boundary import call_context
from .store import StoredEvent

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A tool call whose result is not in the conversation."""

    id: str
    name: str
    was_started: bool
    result: Message | None
    """The message of its result, if it ended."""


@dataclass(slots=True)
class StoredHistory:
    """A session as its events tell it."""

    messages: list[Message] = field(default_factory=list[Message])
    """The conversation."""
    number: int = 0
    """The `number` of the last event of the conversation."""
    started: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    """What `tool:start` said of the calls of the last turn, by their ids."""
    results: dict[str, Message] = field(default_factory=dict[str, Message])
    """The messages of the calls of the last turn that have ended, by their ids."""
    is_turn_open: bool = False
    """Whether the last turn has not ended."""
    _has_open_calls: bool = True

    def take_open_calls(self) -> list[OpenCall]:
        """Return the calls that have no result in the conversation; none the next time."""
        if not self._has_open_calls:
            return []
        self._has_open_calls = False
        answered: set[Any] = set()
        for message in reversed(self.messages):
            if message.get("role") == "tool":
                answered.add(message.get("tool_call_id"))
            elif names := call_names(message):
                open_calls = ((id, name) for id, name in names.items() if id not in answered)
                return [
                    OpenCall(id, name, id in self.started, self.results.get(id))
                    for id, name in open_calls
                ]
        return []


def read_history(stored: Iterable[StoredEvent]) -> StoredHistory:
    """Return what the events of a session amount to, all of them or the first ones."""
    history = StoredHistory()
    for event in stored:
        body = event.body
        match event.kind:
            case history_events.CONTEXT_MESSAGE:
                history.messages.insert(body["index"], body["message"])
                history.number = body["number"]
            case history_events.CONTEXT_REPLACED:
                history.messages.clear()
                history.number = body["number"]
            case call_context.TOOL_START:
                history.started[body["tool_call_id"]] = body
            case call_context.TOOL_RESULT:
                history.results[body["tool_call_id"]] = body["message"]
            case events.EXECUTION_START:
                history.is_turn_open = True
                history.started.clear()
                history.results.clear()
            case events.ORCHESTRATOR_COMPLETE:
                history.is_turn_open = False
            case _:
                pass
    return history
