"""Where the mount function of a module is: an entry point, a package, or among our own.

Each look-up returns None if it finds nothing, and raises what the module raises.
"""

from __future__ import annotations

import importlib
import logging
import sys
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

from .._module_error import ModuleDiscoveryError, not_loadable
from .._packages.installed import import_package, list_entry_points
from .._packages.package import package_name
from ..error_messages import short_repr
from ..known_modules import Source, list_other_sources, list_own_modules
from .module_attributes import Mount, Ready, carry_ready, module_attribute

logger = logging.getLogger("amplifier_core.loader")


class Found(NamedTuple):
    """What a look-up found of a module."""

    mount: Mount
    ready: Ready | None
    """Its `on_session_ready`, which the mount function carries, too."""


def from_entry_point(module_id: str) -> Found | None:
    """Return the mount function of the installed entry point of this name."""
    points = list_entry_points()
    named = [point for point in points if point.name == module_id] if points else None
    if not named:
        return None
    if len(named) > 1:
        logger.debug("module `%s` has %d entry points; the first counts", module_id, len(named))
    point = named[0]
    mount = point.load()
    if not callable(mount):
        mount = mount.mount
    logger.debug("module `%s` taken from its entry point %r", module_id, point)
    module = sys.modules.get(_module_name(point, mount))
    return _make_found(module_id, mount, module_attribute(module, "on_session_ready"))


def from_package(module_id: str, module_name: str | None = None) -> Found | None:
    """Return the mount function of an importable package.

    Args:
        module_id: Id of the module.
        module_name: Name of the package; None for `amplifier_module_<id>`.
    """
    name = module_name or package_name(module_id)
    package = import_package(name)
    if package is None:
        return None
    mount = package.mount
    if not callable(mount):
        raise TypeError(f"`mount` of `{name}` is not callable, found `{short_repr(mount)}`")
    logger.debug("module `%s` taken from package `%s`", module_id, name)
    return _make_found(module_id, mount, module_attribute(package, "on_session_ready"))


def from_our_own(module_id: str) -> Found | None:
    """Return the mount function of a module that comes with the kernel."""
    name = list_own_modules().get(module_id)
    if name is None:
        return None
    module = importlib.import_module(name)
    logger.debug("module `%s` taken from our own `%s`", module_id, name)
    return _make_found(module_id, module.mount, module_attribute(module, "on_session_ready"))


def only_our_own(module_id: str) -> Found:
    """Return the mount function of a module that comes with the kernel, whatever else there is.

    Raises:
        ModuleDiscoveryError: There is no such module of ours, or it cannot be imported.
    """
    if (known := _KNOWN.get(module_id)) is not None and known.is_up_to_date(module_id):
        return known.found
    try:
        found = from_our_own(module_id)
    except Exception as error:
        raise not_loadable(f"our own module `{module_id}` cannot be loaded", [error]) from error
    if found is None:
        known = ", ".join(f"`{name}`" for name in sorted(list_own_modules()))
        raise ModuleDiscoveryError(f"no module `{module_id}` of our own (there are {known})")
    path = tuple(sys.path)
    others = _list_others(module_id, path)
    name = list_own_modules()[module_id]
    module = sys.modules.get(name)
    if not others and found.ready is None and type(module) is ModuleType:
        _KNOWN[module_id] = _Known(name, module, path, found)
    for other in others:
        logger.info(
            "module `%s` is our own here; ignored: %s `%s`%s",
            module_id,
            other.origin,
            other.name,
            f" ({other.place})" if other.place else "",
        )
    return found


class _Known(NamedTuple):
    """A module of ours as it was found last; each session of an agent asks for two of them."""

    name: str
    module: ModuleType
    path: tuple[str, ...]
    found: Found

    def is_up_to_date(self, module_id: str) -> bool:
        """Whether it would be found like this again."""
        attributes = self.module.__dict__
        return (
            sys.modules.get(self.name) is self.module
            and list_own_modules().get(module_id) == self.name
            and attributes.get("mount") is self.found.mount
            and "on_session_ready" not in attributes
            and tuple(sys.path) == self.path
        )


_KNOWN: dict[str, _Known] = {}


@cache
def _list_others(module_id: str, _path: tuple[str, ...]) -> list[Source]:
    """What else has the id, looked up once for each import path: it takes files and folders."""
    return list_other_sources(module_id)


def _make_found(module_id: str, mount: Mount, ready: Any) -> Found:
    return Found(mount, carry_ready(module_id, mount, ready))


def _module_name(entry_point: Any, mount: Any) -> str:
    """Name of the module that an entry point leads to."""
    named: object = getattr(entry_point, "module", None)
    if isinstance(named, str) and named in sys.modules:
        return named
    return getattr(mount, "__module__", None) or ""
