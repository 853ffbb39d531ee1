"""One id for the events of one call to a model: request, retries, response or error.

The call that is open is a context variable, so tasks that run side by side keep theirs apart.
"""

from contextvars import ContextVar

from . import events, world

__all__ = [
    "INTERIM_EVENTS",
    "REQUEST_EVENTS",
    "REQUEST_ID_FIELD",
    "TERMINAL_EVENTS",
    "current_request_id",
    "new_request_id",
    "reset_request_id",
    "resolve_request_id",
]

REQUEST_ID_FIELD = "request_id"
"""Key of the id in the payload of an event."""

REQUEST_EVENTS = frozenset({events.LLM_REQUEST})
"""Events that open a call."""

TERMINAL_EVENTS = frozenset({events.LLM_RESPONSE, events.PROVIDER_ERROR})
"""Events that close a call."""

INTERIM_EVENTS = frozenset({events.PROVIDER_RETRY, events.PROVIDER_THROTTLE})
"""Events within a call."""

_open_call: ContextVar[str | None] = ContextVar("amplifier_core_request_id", default=None)


def new_request_id() -> str:
    """Make an id for a call: a random UUID."""
    return world.new_uuid()


def current_request_id() -> str | None:
    """Return the id of the open call, or None."""
    return _open_call.get()


def reset_request_id() -> None:
    """Forget the open call."""
    _open_call.set(None)


def resolve_request_id(event: str, explicit: str | None = None) -> str | None:
    """Return the id that belongs into an event's payload, and open or close the call with it.

    Args:
        event: Name of the event.
        explicit: Id that the payload carries already; it is kept, and a request or interim
            event makes it the id of the open call.

    Returns:
        The id, or None for an event outside any call and for all other events.
    """
    if event in REQUEST_EVENTS:
        request_id = explicit or new_request_id()
        _open_call.set(request_id)
        return request_id
    if event in INTERIM_EVENTS:
        if explicit:
            _open_call.set(explicit)
        return explicit or _open_call.get()
    if event in TERMINAL_EVENTS:
        request_id = explicit or _open_call.get()
        _open_call.set(None)
        return request_id
    return None
