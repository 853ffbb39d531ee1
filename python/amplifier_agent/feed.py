"""What feeds the stream of a turn: its events, each waited for where something depends on it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from amplifier_core import events, world
from amplifier_core.plain_data import PLAIN, shape_of
from amplifier_modules.loops.answers.agent_events import NAMES
from amplifier_modules.loops.boundary.call_context import TOOL_START
from amplifier_modules.running.session_bound import session_bound

from .event import Event, QuestionAsked, make_delta
from .event_names import DELTAS, event_of, has_event
from .handover import Handover
from .observer import EARLIEST, KERNEL_EVENTS, LATEST

if TYPE_CHECKING:
    from amplifier_core import AmplifierSession

    from .event import Question

Listeners = dict[str, Callable[[Any], object]]
"""Functions that hear events as soon as they are emitted."""

RUNS_AHEAD = frozenset(
    {
        NAMES["ThinkingContentEvent"],
        NAMES["ToolCallContentEvent"],
        NAMES["MessageContentEvent"],
    }
)
"""Pieces of an answer as a loop reads them; like deltas, nothing is decided between two of them.

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

_HANDLER = "amplifier-agent-stream"


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
        self._coordinator: Any = session.coordinator
        self._hooks: Any = session.coordinator.hooks
        self._handover = handover
        self._expect = expect
        self._about = {"session_id": session.session_id, "parent_id": session.parent_id}
        self._stop_starts: Callable[[], object] = bool
        self._unregister: Callable[[], object] | None = None
        """Unregisters the handler of deltas that waits for room, while there is one."""

    async def start(self) -> None:
        """Handle the events of the kernel, and those that the mounted modules say they emit."""
        from amplifier_core.handlers import collect_contributed_events

        contributed = await collect_contributed_events(self._coordinator)
        heard = _list_heard(frozenset(contributed))
        self._hooks._watch(heard - {TOOL_START}, self._handle, EARLIEST, _HANDLER)
        # A tool starts when nobody has denied that, and its start is stored.
        self._stop_starts = self._hooks.register(TOOL_START, self._handle, LATEST, _HANDLER)
        if self._handover.is_nearly_full:
            self._start_waiting()

    def stop(self) -> None:
        """Hand no more over."""
        self._hooks._stop_watch()
        self._stop_starts()
        self._stop_starts = bool
        self._stop_waiting()

    def listen(self, listeners: Listeners) -> None:
        """Let listeners also hand deltas over.

        A delta has no handler: it would get a copy of its own, and be awaited, each time.
        """
        delta = self._make_delta_listener(listeners[events.CONTENT_BLOCK_DELTA])
        listeners[events.CONTENT_BLOCK_DELTA] = delta

    def _start_waiting(self) -> None:
        if self._unregister is None:
            self._unregister = self._hooks.register(
                events.CONTENT_BLOCK_DELTA, self._wait_for_room, priority=EARLIEST, name=_HANDLER
            )

    def _stop_waiting(self) -> None:
        unregister, self._unregister = self._unregister, None
        if unregister is not None:
            unregister()

    @session_bound
    def _handle(self, name: str, data: Any) -> Awaitable[None] | None:
        handover = self._handover
        if (event := event_of(name, data)) is not None:
            if isinstance(event, QuestionAsked) and self._expect is not None:
                # Whoever takes the event may answer at once, before the turn waits.
                self._expect(event.question)
            is_full = handover.add(event)
            if name in RUNS_AHEAD and not is_full:
                return None
        return None if handover.is_empty else handover.wait_until_taken()

    def _make_delta_listener(self, note: Callable[[Any], object]) -> Callable[[Any], None]:
        add, about, start_waiting = self._handover.add, self._about, self._start_waiting
        time = world.time

        def hear_delta(data: Any) -> None:
            note(data)
            kind, text = DELTAS.get(data.get("block_type")), data.get("delta")
            if kind is None or type(text) is not str or not text:
                return
            told = {**about, **data}
            if not PLAIN.issuperset(map(type, told.values())):
                told = shape_of(told, [])
            is_nearly_full = add(make_delta(kind, text, told, time()))
            if is_nearly_full:
                start_waiting()

        return hear_delta

    @session_bound
    async def _wait_for_room(self, name: str, data: Any) -> None:
        await self._handover.wait_until_taken()
        if not self._handover.is_nearly_full:
            self._stop_waiting()


@lru_cache(maxsize=64)
def _list_heard(contributed: frozenset[str]) -> frozenset[str]:
    """Return the events of a stream, one set for all streams of an agent.

    Args:
        contributed: The names of the events of the modules.
    """
    known = (*KERNEL_EVENTS, *contributed)
    return frozenset(name for name in known if name in WAITED_FOR or has_event(name))
