"""Tool calls of a stored conversation that have no result, and the results that they get."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
    was_started: bool
    """Whether its tool was started, so that it may have had its effect."""
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
            "content": _UNKNOWN if self.was_started else _NOT_STARTED,
            "is_error": True,
            "metadata": {"outcome": "unknown" if self.was_started else "not_started"},
        }


def find_open_calls(
    messages: Iterable[Message], started: Iterable[str], results: Mapping[str, Message]
) -> list[OpenCall]:
    """Return the calls of the last answer that have no result behind it.

    Args:
        messages: The conversation.
        started: The ids of the calls whose tools were started.
        results: The results of calls that ended, by their ids.
    """
    answered: set[Any] = set()
    for message in reversed(list(messages)):
        if message.get("role") == "tool":
            answered.add(message.get("tool_call_id"))
        elif calls := find_calls(message):
            return [
                OpenCall(id, name, arguments, id in started, results.get(id))
                for id, (name, arguments) in calls.items()
                if id not in answered
            ]
    return []
