"""What feeds the stream of a turn: its events, each waited for where something depends on it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from amplifier_core import events
from amplifier_core._kernel.payload import timestamp
from amplifier_core.plain_data import PLAIN, shape_of
from amplifier_modules.loops.answers.agent_events import NAMES
from amplifier_modules.running.session_bound import session_bound

from .event import Event, QuestionAsked
from .event_names import DELTAS, event_of, has_event
from .handover import Handover
from .observer import EARLIEST, Observer
from .result import make_frozen

if TYPE_CHECKING:
    from amplifier_core import AmplifierSession

    from .event import Question

Listeners = dict[str, Callable[[Any], object]]
"""Functions that hear events as soon as they are emitted."""

RUNS_AHEAD = frozenset(
    {
        events.CONTENT_BLOCK_DELTA,
        NAMES["ThinkingContentEvent"],
        NAMES["ToolCallContentEvent"],
        NAMES["MessageContentEvent"],
    }
)
"""Pieces of an answer, of which there are many: nothing is decided between two of them.

Every other event of a stream is waited for: what is said at it holds for whatever follows.
"""

WAITED_FOR = {
    events.CONTENT_BLOCK_END: "what a model wrote is whole: it becomes a part of the history, or runs",
    events.TOOL_PRE: "a call is judged, and a person may be asked",
    events.PROVIDER_REQUEST: "a model is asked",
    events.LLM_PRE: "a model is asked once more, with another request",
    events.ORCHESTRATOR_COMPLETE: "the result follows",
}
"""Events that a stream may not show, and what comes after them, before which all is taken."""


class Feed:
    """Hands the events of a session's turn over to whoever takes them.

    Args:
        session: The session of the kernel.
        handover: Takes the events.
        expect: Is told of each question before it is handed over; None to tell nobody.
    """

    def __init__(
        self,
        session: AmplifierSession,
        handover: Handover[Event],
        expect: Callable[[Question], object] | None,
    ) -> None:
        self._hooks: Any = session.coordinator.hooks
        self._handover = handover
        self._expect = expect
        self._about = {"session_id": session.session_id, "parent_id": session.parent_id}
        self._observer = Observer(session.coordinator, self._hear, _is_heard)
        self._unregister: Callable[[], object] | None = None
        """Ends that deltas are waited for."""

    async def start(self) -> None:
        """Begin to hand events over."""
        self._observer.start()
        await self._observer.add_contributed()

    def stop(self) -> None:
        """Hand no more over."""
        self._observer.stop()
        self._wait_no_more()

    def listen(self, listeners: Listeners) -> Listeners:
        """Return listeners that also hand deltas over.

        A delta is handed over where it is emitted: a handler would get a copy of its own, and be
        awaited, for each.
        """
        note = listeners[events.CONTENT_BLOCK_DELTA]
        add, about = self._handover.add, self._about

        def hear_delta(data: Any) -> None:
            note(data)
            kind, text = DELTAS.get(data.get("block_type")), data.get("delta")
            if kind is None or type(text) is not str or not text:
                return
            told = {**about, **data}
            if "timestamp" not in told:
                told["timestamp"] = timestamp()
            if not PLAIN.issuperset(map(type, told.values())):
                told = shape_of(told, [])
            raw = (events.CONTENT_BLOCK_DELTA, told)
            if add(make_frozen(kind, {"raw": raw, "text": text})):
                self._begin_waiting()

        return {**listeners, events.CONTENT_BLOCK_DELTA: hear_delta}

    def _begin_waiting(self) -> None:
        """Let the turn wait at the delta that is being emitted: handlers come after listeners."""
        if self._unregister is None:
            self._unregister = self._hooks.register(
                events.CONTENT_BLOCK_DELTA,
                self._wait_for_room,
                priority=EARLIEST,
                name="amplifier-agent-stream",
            )

    @session_bound
    async def _wait_for_room(self, event: str, data: Any) -> None:
        await self._handover.wait_until_taken()
        self._wait_no_more()

    def _wait_no_more(self) -> None:
        unregister, self._unregister = self._unregister, None
        if unregister is not None:
            unregister()

    def _hear(self, name: str, data: Any) -> Awaitable[None] | None:
        handover = self._handover
        if (event := event_of(name, data)) is not None:
            if isinstance(event, QuestionAsked) and self._expect is not None:
                # Whoever takes the event may answer at once, before the turn waits.
                self._expect(event.question)
            is_full = handover.add(event)
            if name in RUNS_AHEAD and not is_full:
                return None
        return None if handover.is_empty else handover.wait_until_taken()


def _is_heard(name: str) -> bool:
    return name != events.CONTENT_BLOCK_DELTA and (name in WAITED_FOR or has_event(name))
