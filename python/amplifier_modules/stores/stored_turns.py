"""Where the turns of a stored session end, and the results of its tool calls are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from amplifier_core.events import EXECUTION_START, ORCHESTRATOR_COMPLETE

from ..contexts.history_events import CONTEXT_MESSAGE
from ..loops.boundary.call_context import TOOL_RESULT
from ..loops.turn_report import AWAITING_APPROVAL
from .store import StoredEvent


@dataclass(frozen=True)
class StoredTurns:
    """The numbers of the events of a session that a person may go back to."""

    head: int
    """Its last event."""
    ends: tuple[int, ...]
    """The last event of each turn; of one that was not finished, the last before the next."""
    results: Mapping[str, tuple[int, ...]]
    """The events with results of tool calls, by the ids of the calls, which may come again."""

    def find_turn(self, event: int) -> int | None:
        """Return the turn in which something happened behind an event; None if it was in none."""
        return next((turn for turn, end in enumerate(self.ends, 1) if event < end), None)

    def find_result(self, call_id: str, event: int) -> int | None:
        """Return the first event behind another one that has the result of a call."""
        return next((each for each in self.results.get(call_id, ()) if each > event), None)


def read_turns(stored: Iterable[StoredEvent]) -> StoredTurns:
    """Return where the turns of a session end."""
    ends: list[int] = []
    results: dict[str, tuple[int, ...]] = {}
    head, is_open = 0, False
    for event in stored:
        body = event.body
        match event.kind:
            case kind if kind == EXECUTION_START:
                if not (is_open and body.get("goes_on")):
                    if is_open:
                        ends.append(head)
                    is_open = True
            case kind if kind == ORCHESTRATOR_COMPLETE and body.get("status") != AWAITING_APPROVAL:
                if is_open:
                    ends.append(event.number)
                is_open = False
            case kind if kind == TOOL_RESULT:
                call_id = str(body["tool_call_id"])
                results[call_id] = (*results.get(call_id, ()), event.number)
            case kind if kind == CONTEXT_MESSAGE and body["message"].get("role") == "tool":
                call_id = str(body["message"].get("tool_call_id"))
                results[call_id] = (*results.get(call_id, ()), event.number)
            case _:
                pass
        head = event.number
    return StoredTurns(head, (*ends, head) if is_open else tuple(ends), results)
