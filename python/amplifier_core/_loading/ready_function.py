"""The `on_session_ready` of a module, attached to its mount function."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeAlias

from .check import is_async

logger = logging.getLogger("amplifier_core.loader")

Mount: TypeAlias = Callable[..., Any]
"""A module's own `mount(coordinator, config)`."""

Ready: TypeAlias = Callable[[Any], Awaitable[None]]
"""A module's `on_session_ready(coordinator)`."""

_ATTRIBUTE = "__on_session_ready__"


def carry_ready(module_id: str, mount: Mount, ready: Any) -> Ready | None:
    """Attach the id of a module and its `on_session_ready` to the mount function, and return it.

    Modules may share a mount function, which then has those of the last one: whoever looks
    a module up has to keep what is returned here.

    Args:
        module_id: Id of the module.
        mount: Its mount function.
        ready: Its `on_session_ready`; None for none, and a sync one is skipped with a warning.
    """
    if ready is None:
        return None
    if not is_async(ready):
        logger.warning(
            "`on_session_ready` of module `%s` is skipped: it is sync and must be async", module_id
        )
        return None
    with suppress(AttributeError):  # bound methods take no attributes
        setattr(mount, _ATTRIBUTE, (module_id, ready))
    return ready


def carried_ready(module_id: str, mount: Mount) -> Ready | None:
    """Return the `on_session_ready` that a mount function carries for a module, None for none."""
    carried = getattr(mount, _ATTRIBUTE, None)
    return carried[1] if carried is not None and carried[0] == module_id else None
