"""The hook registry in plain Python: the same contract as the Rust class of `amplifier_core`."""

from __future__ import annotations

import logging
from abc import ABCMeta
from bisect import insort
from collections.abc import Callable, Coroutine, Sequence
from operator import attrgetter
from typing import Any, ClassVar, Self

from . import correlation, events, world
from ._hook_result import UNKNOWN_KEYS, ContextInjection, HookResult
from ._kernel.answer_mistakes import warn_of_mistake
from ._kernel.argument import any_text, take_flag, take_integer, take_text, time_limit
from ._kernel.dispatch import Dispatch, Registration, Unregister
from ._kernel.handler_call import ask_handler, read_answer_data
from ._kernel.hook_answer import make_continue, result_of
from ._kernel.own_failure import is_own_failure
from ._kernel.payload import Payload, stamp_payload, take_payload, top_level
from ._kernel.qualname import set_qualname
from ._kernel.timeout import EXPIRED, await_within
from ._native.choice import extension
from .event_loop import is_awaitable
from .handlers import check_handler

__all__ = ["ContextInjection", "HookRegistry", "HookResult"]

logger = logging.getLogger(__name__)

_CORRELATED = correlation.REQUEST_EVENTS | correlation.TERMINAL_EVENTS | correlation.INTERIM_EVENTS
"""Events of model calls, which carry the id of their call."""
_LAST = 2**31 - 1
"""The priority of observers, the highest that there is."""


class HookRegistry(metaclass=ABCMeta):
    """Runs handlers for events, in the order of their priority."""

    SESSION_START: ClassVar[str] = events.SESSION_START
    SESSION_END: ClassVar[str] = events.SESSION_END
    PROMPT_SUBMIT: ClassVar[str] = events.PROMPT_SUBMIT
    TOOL_PRE: ClassVar[str] = events.TOOL_PRE
    TOOL_POST: ClassVar[str] = events.TOOL_POST
    CONTEXT_PRE_COMPACT: ClassVar[str] = events.CONTEXT_PRE_COMPACT
    ORCHESTRATOR_COMPLETE: ClassVar[str] = events.ORCHESTRATOR_COMPLETE
    USER_NOTIFICATION: ClassVar[str] = events.USER_NOTIFICATION
    TURN_START: ClassVar[str] = events.TURN_START
    TURN_END: ClassVar[str] = events.TURN_END
    LLM_PRE: ClassVar[str] = events.LLM_PRE
    LLM_POST: ClassVar[str] = events.LLM_POST
    CONTEXT_COMPACTION: ClassVar[str] = events.CONTEXT_COMPACTION

    _observers: list[Registration]
    """Those of every event, in the order of running."""
    _events: dict[str, list[Registration]]
    """The registrations of every event that ever had one, in the order of running.

    Changed in place and by single operations of `list`, so that threads need no lock, and a forked
    process cannot inherit a locked one.
    """
    _listeners: dict[str, Callable[[Any], object]]
    """A function for each event that somebody listens to."""
    _watching: tuple[frozenset[str], Registration] | None
    """One handler of many events, and which they are."""
    _defaults: dict[str, Any]
    _next_serial: int
    _cancellations_told: int
    """How often `cancel:completed` was emitted."""

    def __new__(cls) -> Self:
        """Make a registry without handlers."""
        registry = super().__new__(cls)
        registry._events = {}
        registry._observers = []
        registry._listeners = {}
        registry._watching = None
        registry._defaults = {}
        registry._next_serial = 0
        registry._cancellations_told = 0
        return registry

    def register(
        self,
        event: str,
        handler: Callable[[str, dict[str, Any]], Any],
        priority: int = 0,
        name: str | None = None,
        *,
        fail_closed: bool = False,
        timeout: float | None = None,
    ) -> Unregister:
        """Register a handler for an event; call what is returned to unregister it.

        A handler that raises or is too late is skipped and logged: the event goes on as if it had
        agreed. With `fail_closed` its failure denies.

        Args:
            event: Name of the event.
            handler: Plain or async callable that returns a `HookResult`, a dict of its fields or
                None.
            priority: Lower ones run first, equal ones in the order of registration.
            name: Name of the registration; a unique one by default.
            fail_closed: Whether a handler that raises or is too late denies; else it is skipped.
            timeout: Seconds that an async handler may take. Under asyncio it then runs in a task of
                its own, which is left behind if it ignores its cancellation; trio cannot do that.

        Raises:
            TypeError: An argument is of the wrong type, or the handler cannot be called with an
                event and its data.
            ValueError: The timeout is negative or not a number.
        """
        event = take_text(event, "event")
        registration = Registration(
            serial=self._next_serial,
            priority=take_integer(priority, "priority", bits=32),
            name=f"_auto_{event}_{world.new_uuid()}" if name is None else take_text(name, "name"),
            handler=handler,
            fail_closed=take_flag(fail_closed, "fail_closed"),
            timeout=time_limit(timeout),
        )
        check_handler(handler, f"`{event}`")
        self._next_serial += 1
        registered = self._events.setdefault(event, [])
        insort(registered, registration, key=attrgetter("priority"))
        return Unregister(registered, registration)

    def on(
        self,
        event: str,
        handler: Callable[[str, dict[str, Any]], Any],
        priority: int = 0,
        name: str | None = None,
        *,
        fail_closed: bool = False,
        timeout: float | None = None,
    ) -> Unregister:
        """Register a handler for an event; the same as `register`."""
        return HookRegistry.register(
            self, event, handler, priority, name, fail_closed=fail_closed, timeout=timeout
        )

    def observe(
        self, handler: Callable[[str, dict[str, Any]], Any], name: str | None = None
    ) -> Unregister:
        """Call a handler for every event, after it was judged; call what is returned to end that.

        It gets the data as the last judge left it, of denied events too. What it answers is
        ignored, and what it raises is logged.

        Raises:
            TypeError: The handler cannot be called with an event and its data, or the name is not
                text.
        """
        registration = Registration(
            serial=self._next_serial,
            priority=_LAST,
            name=f"_auto_*_{world.new_uuid()}" if name is None else take_text(name, "name"),
            handler=handler,
            fail_closed=False,
            timeout=None,
            is_observer=True,
        )
        check_handler(handler, "every event")
        self._next_serial += 1
        self._observers.append(registration)
        return Unregister(self._observers, registration)

    def unregister(self, name: str) -> None:
        """Unregister every handler of this name; an unknown one is ignored."""
        name = take_text(name, "name")
        for registered in (*self._events.values(), self._observers):
            for registration in tuple(registered):
                if registration.name == name:
                    Unregister(registered, registration)()

    def set_default_fields(self, /, **defaults: Any) -> None:
        """Set the fields that every event carries, in the place of those set before."""
        self._defaults = defaults

    def is_heard(self, event: str) -> bool:
        """Whether emitting an event has an effect: somebody hears it, or it is counted or correlated.

        Where it has none, a caller can spare itself the data.
        """
        event = any_text(event, "event")
        return self._has_handlers(event) or event in self._listeners

    def _has_handlers(self, event: str) -> bool:
        """Whether handlers hear an event, or it is counted or correlated; who only listens is none."""
        return (
            type(self).emit is not HookRegistry.emit
            or "emit" in self.__dict__
            or event == events.CANCEL_COMPLETED
            or event in _CORRELATED
            or bool(self._list_handlers_of(event))
        )

    def _must_emit(self, event: str, data: Any) -> bool:
        """Tell who listens to an event of its data, where nobody else hears it; whether `emit` is needed."""
        if self._has_handlers(event):
            return True
        if (listener := self._listeners.get(event)) is not None:
            _tell(listener, event, data)
        return False

    def list_handlers(self, event: str | None = None) -> dict[str, list[str]]:
        """Name the handlers of one event or of all, in the order of running."""
        events = tuple(self._events) if event is None else (take_text(event, "event"),)
        return {event: [one.name for one in self._events.get(event, ())] for event in events}

    def _listen(self, listeners: dict[str, Callable[[Any], object]] | None) -> None:
        """Call these functions, by event, with the data of an event as soon as it is emitted.

        They replace those set before. They get the caller's own data, only to look at it.
        """
        self._listeners = listeners or {}

    def _watch(
        self, events: frozenset[str], handler: Callable[[str, Any], Any], priority: int, name: str
    ) -> None:
        """Call a handler for these events, after those of its priority; it replaces the one before.

        It is not listed among the handlers, and no registry inherits it.
        """
        registration = Registration(
            serial=self._next_serial,
            priority=priority,
            name=name,
            handler=handler,
            fail_closed=False,
            timeout=None,
        )
        self._watching = (events, registration)

    def _stop_watch(self) -> None:
        """Call the handler of `_watch` no more."""
        self._watching = None

    def _events_beside(self, known: frozenset[str]) -> list[str]:
        """Name the events that have a handler and are not among these."""
        return [event for event, ones in tuple(self._events.items()) if ones and event not in known]

    def _registrations(self, event: str) -> list[tuple[int, str, Any, bool, float | None]]:
        """List an event's registrations: serial, name, handler, `fail_closed` and `timeout`."""
        return [
            (one.serial, one.name, one.handler, one.fail_closed, one.timeout)
            for one in self._events.get(take_text(event, "event"), ())
        ]

    def _all_registrations(
        self,
    ) -> list[tuple[str | None, int, int, str, Any, bool, float | None]]:
        """List all registrations in the order of running; the event of an observer is None.

        Each is event, serial, priority, name, handler, `fail_closed` and `timeout`.
        """
        places = [(event, one) for event, ones in tuple(self._events.items()) for one in ones]
        return [
            (event, one.serial, one.priority, one.name, one.handler, one.fail_closed, one.timeout)
            for event, one in (*places, *((None, each) for each in self._observers))
        ]

    def emit(self, event: str, data: Any) -> Coroutine[Any, Any, HookResult]:
        """Emit an event: run its handlers in order and return what they decide.

        Raises:
            ValueError: The data contains itself.
            TypeError: A key of the data cannot be one in JSON.
        """
        event = any_text(event, "event")
        if event == events.CANCEL_COMPLETED:
            self._cancellations_told += 1
        data = _add_request_id(event, top_level(data))
        if (listener := self._listeners.get(event)) is not None:
            _tell(listener, event, data)
        payload = stamp_payload(data, self._defaults) if self._list_handlers_of(event) else None
        return self._emit(event, data, payload)

    def emit_each(self, events: Sequence[tuple[str, Any]]) -> Coroutine[Any, Any, None]:
        """Emit events, each given as its name and its data, one after another.

        Handlers are run as `emit` runs them; what they decide is not returned. Many events at once
        cost less than as many calls of `emit`.

        Raises:
            ValueError: The data of an event contains itself; those after it are not emitted.
            TypeError: A key of the data cannot be one in JSON.
        """
        return self._emit_each([(any_text(event, "event"), data) for event, data in events])

    def emit_and_collect(
        self, event: str, data: Any, timeout: float | None = 1.0
    ) -> Coroutine[Any, Any, list[dict[str, Any]]]:
        """Ask every handler and collect the data of their answers, each within `timeout` seconds.

        Raises:
            ValueError: The timeout is negative or not a number, or the data contains itself.
            TypeError: The timeout is not a number, or a key of the data cannot be one in JSON.
        """
        seconds = time_limit(timeout)
        return self._collect(any_text(event, "event"), take_payload(top_level(data)), seconds)

    def __repr__(self) -> str:
        """Count handlers and events."""
        counts = [len(registered) for registered in self._events.values() if registered]
        return f"<{type(self).__name__}: {sum(counts)} handlers on {len(counts)} events>"

    def _list_handlers_of(self, event: str) -> tuple[Registration, ...]:
        """The handlers that an event has now, and those of every event."""
        judges = self._events.get(event, ())
        if self._watching is not None and event in self._watching[0]:
            judges = [*judges]
            insort(judges, self._watching[1], key=attrgetter("priority"))
        return (*judges, *self._observers)

    @set_qualname("HookRegistry.emit")
    async def _emit(self, event: str, data: Any, payload: Payload | None) -> HookResult:
        """Run the handlers; `payload` is None where there were none when `emit` was called."""
        registrations = self._list_handlers_of(event)
        if payload is None:
            if not registrations:
                return make_continue(data if issubclass(type(data), dict) else {})
            payload = stamp_payload(data, self._defaults)
        dispatch = Dispatch(payload)
        denial: HookResult | None = None
        for registration in registrations:
            if denial is None:
                denial = await ask_handler(self, registration, event, dispatch)
            elif registration.is_observer:
                await ask_handler(self, registration, event, dispatch)
        return dispatch.finish() if denial is None else denial

    @set_qualname("HookRegistry.emit_each")
    async def _emit_each(self, emitted: list[tuple[str, Any]]) -> None:
        for event, data in emitted:
            await self.emit(event, data)

    @set_qualname("HookRegistry.emit_and_collect")
    async def _collect(
        self, event: str, payload: Payload, seconds: float | None
    ) -> list[dict[str, Any]]:
        collected: list[dict[str, Any]] = []
        for registration in self._list_handlers_of(event):
            about = f"on `{event}`; continuing without its answer"
            handed_out = payload.hand_out()
            try:
                answer = registration.handler(event, handed_out)
                if answer is not None and is_awaitable(answer):
                    what = f"hook `{registration.name}` on `{event}`"
                    answer = await (
                        answer if seconds is None else await_within(answer, seconds, what)
                    )
                result = None if answer is None or answer is EXPIRED else result_of(answer)
                data = None if result is None else read_answer_data(answer, result)
            except BaseException as error:
                if not is_own_failure(error):
                    raise
                logger.error("hook `%s` failed %s", registration.name, about, exc_info=error)
                continue
            if answer is EXPIRED:
                logger.warning("hook `%s` timed out %s", registration.name, about)
            elif result is not None and not registration.is_observer:
                if UNKNOWN_KEYS in result.__dict__:
                    who = registration.name, registration.handler
                    warn_of_mistake(self, event, *who, result)
                if data is not None:
                    collected.append(data)
        return collected


def _tell(listener: Callable[[Any], object], event: str, data: Any) -> None:
    try:
        listener(data)
    except BaseException as error:
        if not is_own_failure(error):
            raise
        logger.error("what listens to `%s` failed; continuing", event, exc_info=error)


def _add_request_id(event: str, data: Any) -> Any:
    """Return the data with the `request_id` of its model call, where the event belongs to one."""
    if event not in _CORRELATED or not issubclass(type(data), dict):
        return data
    given = data.get(correlation.REQUEST_ID_FIELD)
    # An invalid id is ignored, so that all events of a call carry the same one.
    explicit = given if isinstance(given, str) and given else None
    request_id = correlation.resolve_request_id(event, explicit)
    if request_id is None or explicit is not None:
        return data
    return {**data, correlation.REQUEST_ID_FIELD: request_id}


if extension is not None:
    # By the metaclass, as the class has a method `register` of its own.
    ABCMeta.register(HookRegistry, extension.RustHookRegistry)
