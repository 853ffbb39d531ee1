"""Handlers of events: what can be one, which of them decide, and which events there are for them."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from functools import partial
from types import FunctionType, MethodType
from typing import Any, cast

from .session_capabilities import OBSERVABILITY_EVENTS

JUDGED_EVENTS = frozenset(
    {
        "prompt:submit",
        "provider:request",
        "tool:pre",
        "tool:post",
        "tool:start",
        "orchestrator:goal_progress",
        "orchestrator:steering_submitted",
    }
)
"""The events whose handlers decide about a step: their loops do as the handlers answer.

Those of all others only observe.
"""

_RIGHT = "must be a function of the event and its data"


def check_handler(handler: object, event: str) -> None:
    """Check what is about to be registered; what has no signature that can be read is accepted.

    Args:
        handler: The handler.
        event: What it handles, for errors.

    Raises:
        TypeError: It cannot be called with two arguments by position.
    """
    if not callable(handler):
        found = type(handler).__name__
        raise TypeError(f"the handler of {event} cannot be called, found `{found}` ({_RIGHT})")
    if _takes_two(handler):
        return
    shown = inspect.signature(handler, follow_wrapped=False)
    raise TypeError(
        f"the handler `{handler_name(handler)}` of {event} takes `{shown}` ({_RIGHT}, such as"
        " `def handle(event, data)`)"
    )


def handler_name(handler: Any) -> str:
    """Return the module and the name of a handler, or of its class, for messages."""
    while isinstance(handler, partial):
        handler = cast("Any", handler).func
    try:
        name, module = handler.__qualname__, handler.__module__
    except Exception:  # noqa: BLE001 -- an object, whose code may raise anything
        name, module = type(handler).__qualname__, type(handler).__module__
    return f"{module}.{name}"


def count_registrations(hooks: Any) -> int:
    """Return how many handlers were registered ever; 0 for a stand-in of a registry."""
    # Asked of the class: a stand-in would answer any attribute of its own.
    kind = cast(Any, type(hooks))
    return hooks._next_serial if hasattr(kind, "_registrations") else 0


async def collect_contributed_events(coordinator: Any) -> set[str]:
    """Return the names of events that mounted modules contribute."""
    found: list[Any] = await coordinator.collect_contributions(OBSERVABILITY_EVENTS)
    return set(_list_texts([*found, coordinator.get_capability(OBSERVABILITY_EVENTS)]))


def _takes_two(handler: Any) -> bool:
    """Whether a callable can be called with two arguments by position, as far as is known."""
    given, function = 2, handler
    if type(handler) is MethodType:
        given, function = 3, handler.__func__
    if type(function) is FunctionType:
        code = function.__code__
        needed = code.co_argcount - len(function.__defaults__ or ())
        if needed <= given and not code.co_kwonlyargcount:
            # Most handlers, at a tenth of what reading a signature costs.
            return given <= code.co_argcount or bool(code.co_flags & inspect.CO_VARARGS)
    try:
        signature = inspect.signature(handler, follow_wrapped=False)
    except Exception:  # noqa: BLE001 -- a callable in C, or code of others
        return True
    try:
        signature.bind("event", {})
    except TypeError:
        return False
    return True


def _list_texts(values: list[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list | tuple | set | frozenset):
            each = cast("Iterable[object]", value)
            yield from (name for name in each if isinstance(name, str))
