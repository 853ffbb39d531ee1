"""Tool calls of a stored conversation that have no result, and the results that they get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .messages import Message, find_calls

_UNKNOWN = (
    "The outcome of this call is unknown: the process ended while it ran, so it may have had its"
    " effect. Find out before you call it again."
)
_NOT_STARTED = "Not run: the process ended before this call began."


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A tool call whose result is not in the conversation."""

    id: str
    name: str
    arguments: Mapping[str, Any]
    key: str | None
    """What stays the same when it is repeated; None if its tool was not started."""
    result: Message | None
    """The message of its result, if it ended."""

    def make_result(self) -> Message:
        """Return the message of its result: the one that it had, or what is known of it."""
        if self.result is not None:
            return self.result
        return {
            "role": "tool",
            "tool_call_id": self.id,
            "name": self.name,
            "content": _NOT_STARTED if self.key is None else _UNKNOWN,
            "is_error": True,
            "metadata": {"outcome": "not_started" if self.key is None else "unknown"},
        }


@dataclass(frozen=True, slots=True)
class OpenCalls:
    """The calls of a conversation that have no result."""

    written: Sequence[OpenCall] = ()
    """Those of its last answer, in their order."""
    unwritten: Sequence[OpenCall] = ()
    """Those that ran while the model wrote its answer, which is not in the conversation."""

    def make_answer(self) -> Message | None:
        """Return an answer that has the calls which no answer has; None if there are none."""
        if not self.unwritten:
            return None
        calls = [
            {"id": each.id, "tool": each.name, "arguments": dict(each.arguments)}
            for each in self.unwritten
        ]
        return {"role": "assistant", "content": "", "tool_calls": calls}


def find_open_calls(
    messages: Sequence[Message],
    started: Mapping[str, Mapping[str, Any]],
    results: Mapping[str, Message],
) -> OpenCalls:
    """Return the calls that have no result behind them.

    Args:
        messages: The conversation.
        started: What `tool:start` said of the calls that have none, by their ids.
        results: The results of those of them that ended, by their ids.
    """
    answered: set[Any] = set()
    calls: dict[str, tuple[str, dict[str, Any]]] = {}
    for message in reversed(messages):
        if message.get("role") == "tool":
            answered.add(message.get("tool_call_id"))
        elif calls := find_calls(message):
            break
    written = {id: call for id, call in calls.items() if id not in answered}

    def describe(id: str, name: str, arguments: Mapping[str, Any]) -> OpenCall:
        key = started[id]["key"] if id in started else None
        return OpenCall(id, name, arguments, key, results.get(id))

    return OpenCalls(
        [describe(id, *call) for id, call in written.items()],
        [
            describe(id, said["tool_name"], said["tool_input"])
            for id, said in started.items()
            if id not in written
        ],
    )
