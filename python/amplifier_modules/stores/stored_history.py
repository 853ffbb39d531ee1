"""What a stored session knows: its conversation, and what was under way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from amplifier_core import events

from ..contexts import history_events
from ..contexts.open_calls import OpenCall, find_open_calls
from ..loops.boundary import call_context
from .store import StoredEvent

Message = dict[str, Any]


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
    prompt: str | None = None
    """What the turn began with that has not ended; None where all have."""
    _has_open_calls: bool = True

    def take_open_calls(self) -> list[OpenCall]:
        """Return the calls that have no result in the conversation; none the next time."""
        if not self._has_open_calls:
            return []
        self._has_open_calls = False
        return find_open_calls(self.messages, self.started, self.results)

    def find_key(self, call_id: str) -> str | None:
        """Return the key of a call that the last turn has started; None if it has not."""
        started = self.started.get(call_id)
        return None if started is None else started["key"]


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
                history.prompt = str(body["prompt"])
                history.started.clear()
                history.results.clear()
            case events.ORCHESTRATOR_COMPLETE:
                history.prompt = None
            case _:
                pass
    return history
