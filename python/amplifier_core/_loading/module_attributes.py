"""What a loaded module has beside its `mount`: the settings that it declares, and `on_session_ready`."""

from __future__ import annotations

import logging
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import ModuleType
from typing import Any, TypeAlias

from .check import is_async


def module_attribute(module: Any, name: str) -> Any:
    """Return an attribute of a module, or of what is in `sys.modules` in its place; None without it."""
    # `getattr` of a module makes an error for what is not there, whatever its default is.
    if type(module) is ModuleType:
        names = module.__dict__
        if name in names:
            return names[name]
        if "__getattr__" not in names:
            return None
    return getattr(module, name, None)


_SETTINGS = "__amplifier_settings__"


def declared_settings(mount: Any) -> Any:
    """Return the model that a module names by `__amplifier_settings__`; None if it names none.

    Args:
        mount: The module's mount function, defined in the module or in a file of its folder.
    """
    name: object = getattr(mount, "__module__", None)
    if not isinstance(name, str):
        return None
    settings = module_attribute(sys.modules.get(name), _SETTINGS)
    if settings is None and "." in name:
        settings = module_attribute(sys.modules.get(name.rpartition(".")[0]), _SETTINGS)
    return settings


logger = logging.getLogger("amplifier_core.loader")

Mount: TypeAlias = Callable[..., Any]
"""A module's own `mount(coordinator, config)`."""

Ready: TypeAlias = Callable[[Any], Awaitable[None]]
"""A module's `on_session_ready(coordinator)`."""

_READY = "__on_session_ready__"


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
        setattr(mount, _READY, (module_id, ready))
    return ready


def carried_ready(module_id: str, mount: Mount) -> Ready | None:
    """Return the `on_session_ready` that a mount function carries for a module, None for none."""
    carried = getattr(mount, _READY, None)
    return carried[1] if carried is not None and carried[0] == module_id else None
