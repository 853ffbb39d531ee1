"""Which events have an effect, so that no payload is made without a listener."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amplifier_core import RustHookRegistry
from amplifier_core.hooks import HookRegistry

_REGISTRIES: tuple[type[Any], ...] = (RustHookRegistry, HookRegistry)


def listener_check(hooks: Any) -> Callable[[str], bool]:
    """Return what says whether emitting an event to a registry has an effect.

    Of a registry that cannot be asked, it says so of every event.
    """
    return hooks.is_heard if isinstance(hooks, _REGISTRIES) else _accept_event


def handler_check(hooks: Any) -> Callable[[str], bool]:
    """Return what says whether an event has handlers, and not only who listens to its data.

    Of a registry that cannot be asked, it says so of every event.
    """
    return hooks._has_handlers if isinstance(hooks, _REGISTRIES) else _accept_event


def emission_check(hooks: Any) -> Callable[[str, Any], bool]:
    """Return what says whether an event has to be emitted.

    Where nobody but a listener hears it, that is told of the data at once: to emit it would take a
    coroutine for nothing.
    """
    return hooks._must_emit if isinstance(hooks, _REGISTRIES) else _accept_emission


def _accept_event(event: str) -> bool:
    del event
    return True


def _accept_emission(event: str, data: Any) -> bool:
    del event, data
    return True
