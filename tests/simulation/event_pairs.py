"""The events of a session: what begins ends, once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from broken import BrokenPromiseError

PAIRS = {
    "execution:start": ("execution:end",),
    "turn:start": ("turn:end",),
    "llm:pre": ("llm:post",),
    "content_block:start": ("content_block:end",),
    "tool:pre": ("tool:post", "tool:error"),
    "task:start": ("task:end",),
    "cancel:requested": ("cancel:completed",),
    "agent:message_start": ("agent:message_end",),
    "agent:thinking_start": ("agent:thinking_end",),
    "agent:tool_call_start": ("agent:tool_call_end",),
}
"""The events that begin something, and those that end it."""

BEGINNINGS = {end: start for start, ends in PAIRS.items() for end in ends}

_KEYS = ("tool_call_id", "block_index", "index", "purpose")

_OUTLIVE_TURNS = frozenset({"execution:start", "task:start"})
"""What may be open when a turn ends: itself, and tasks in the background."""

_END_WITH_SESSION = frozenset({"task:start"})
"""What the end of a session ends."""


class EventPairs:
    """What has begun and not ended in one session."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._open: set[tuple[str, Any]] = set()
        self._ended_calls: set[Any] = set()
        self._is_cancelled = False
        self._has_shown = False
        """Whether something was shown of the answer that has failed last."""

    @property
    def is_in_turn(self) -> bool:
        """Whether a turn runs."""
        return ("execution:start", None) in self._open

    def note(self, event: str, data: Mapping[str, Any]) -> None:
        """Take an event.

        Raises:
            BrokenPromiseError: It begins what has begun, or ends what has not.
        """
        self._check_repetition(event, data)
        if event == "execution:start":
            self._is_cancelled = False
        if event in PAIRS:
            thing = event, _key(event, data)
            if thing in self._open:
                raise BrokenPromiseError(
                    f"`{event}` of `{thing[1]}` came twice, with no end between"
                )
            self._open.add(thing)
        elif event in BEGINNINGS:
            self._end(event, BEGINNINGS[event], _key(event, data))
        if event == "llm:post" and data["status"] == "cancelled":
            # Of an answer that is left behind, these are missing.
            self._open = {each for each in self._open if not each[0].startswith("agent:")}
        if event == "execution:end":
            self.check_closed("at the end of a turn", _OUTLIVE_TURNS)
        elif event == "session:end":
            self.check_closed("at the end of the session", _END_WITH_SESSION)

    def check_closed(self, when: str, apart_from: frozenset[str] = frozenset()) -> None:
        """Check that nothing is open but these."""
        left = sorted(f"{event} {key}" for event, key in self._open if event not in apart_from)
        if left:
            raise BrokenPromiseError(f"what has begun has no end {when}: {left}")

    def _end(self, event: str, beginning: str, key: Any) -> None:
        if beginning == "tool:pre":
            if key in self._ended_calls:
                raise BrokenPromiseError(f"the call `{key}` ended twice")
            self._ended_calls.add(key)
            if event == "tool:error":  # also of a call that never began
                self._open.discard((beginning, key))
                return
        if beginning == "cancel:requested":
            self._end_cancellation()
            return
        if beginning == "turn:start":  # a turn that is cancelled at its first event has none
            self._open.discard((beginning, key))
            return
        if (beginning, key) not in self._open:
            raise BrokenPromiseError(f"`{event}` of `{key}` came without `{beginning}`")
        self._open.remove((beginning, key))

    def _end_cancellation(self) -> None:
        """Take the end of a cancellation; where the loop has not begun one, the session says it."""
        if self._is_cancelled:
            raise BrokenPromiseError("a turn was cancelled twice")
        self._is_cancelled = True
        self._open.discard(("cancel:requested", None))

    def _check_repetition(self, event: str, data: Mapping[str, Any]) -> None:
        """Check that no model is asked again for an answer of which something was shown."""
        if event in ("content_block:start", "agent:message_start"):
            self._has_shown = True
        elif event == "provider:request":
            self._has_shown = False
        elif event == "llm:pre" and "purpose" not in data and self._has_shown:
            raise BrokenPromiseError("a model is asked again for an answer that was shown in part")


def _key(event: str, data: Mapping[str, Any]) -> Any:
    if event in ("task:start", "task:end"):
        return data["task_id"]
    if event in ("execution:start", "execution:end"):
        return None
    return next((data[key] for key in _KEYS if data.get(key) is not None), None)
