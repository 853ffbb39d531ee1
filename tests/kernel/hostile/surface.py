"""All that can be called in the public packages: functions, classes, methods and properties."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import inspect
import os
import pkgutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any

import guard_owners  # noqa: F401 -- adds its makers
from owners import coordinator as make_coordinator
from owners import make

PACKAGES = (
    "amplifier_core",
    "amplifier_stream",
    "amplifier_guard",
    "amplifier_providers",
    "amplifier_modules",
    "amplifier_testing",
)
ENTERED = ("amplifier_core._engine",)
"""Modules that are walked although their names are not public."""
WAITING = (
    "amplifier_core.world.sleep",
    "amplifier_core.world.World.sleep",
    "amplifier_modules.loops.boundary.cancellation.TurnCancellation.sleep",
    "amplifier_testing.kit.base.wait_until",
)
"""What does nothing but wait, as long as it is asked to."""
HOMES = tempfile.mkdtemp()
"""Where the homes of mounted modules are made: not in the folder that their tools list."""
OPERATORS = tuple(
    f"__{name}__"
    for name in (
        *("aenter", "aexit", "aiter", "anext", "bool", "call", "contains", "delattr", "delitem"),
        *("enter", "eq", "exit", "format", "getattr", "getitem", "hash", "iter", "le", "len"),
        *("lt", "next", "reduce_ex", "repr", "setattr", "setitem", "setstate", "str"),
    )
)
READERS = ("model_validate", "model_validate_json", "model_construct", "model_copy")
"""What our models inherit and we shape with our validators."""


@dataclass(frozen=True)
class Target:
    """Something to call."""

    name: str
    get: Callable[[], Callable[..., Any]]
    """Gives it anew, bound to an object of its own."""
    takes_more: bool = True
    """Whether more than one argument is of interest."""


def modules() -> Iterator[Any]:
    """The public modules of all packages, and the extension."""
    for package in PACKAGES:
        found = importlib.import_module(package)
        yield found
        for module in pkgutil.walk_packages(found.__path__, f"{package}."):
            if not any(part.startswith("_") for part in module.name.split(".")):
                # What belongs to transports that are not there says so.
                with contextlib.suppress(ImportError):
                    yield importlib.import_module(module.name)
    for name in ENTERED:
        with contextlib.suppress(ImportError):
            yield importlib.import_module(name)


def public_callables() -> dict[str, Any]:
    """What the modules define or offer, each under the first of its names."""
    found: dict[int, tuple[str, Any]] = {}
    for module in modules():
        offered = getattr(module, "__all__", ())
        for name in sorted({*dir(module), *offered}):
            value = getattr(module, name)
            origin = str(getattr(value, "__module__", None) or "")
            is_own = origin == module.__name__ and not name.startswith("_")
            is_entered = module.__name__ in ENTERED and not name.startswith("__")
            if callable(value) and (name in offered or is_own or is_entered):
                found.setdefault(id(value), (f"{module.__name__}.{name}", value))
    return {name: value for name, value in found.values() if name not in WAITING}


def targets(where: str, value: Any) -> Iterator[Target]:
    """A callable; of a class its methods, too, the reading, setting and deleting of its fields."""
    yield Target(where, lambda: value)
    if not inspect.isclass(value):
        return
    try:
        instance = make(value)
    except LookupError:
        if not where.startswith(
            ("amplifier_modules.", "amplifier_providers.", "amplifier_testing.")
        ):
            raise
        return  # what a module is made of; what it mounts is walked
    yield from members(where, value, instance, lambda: make(value))


def members(where: str, value: type, instance: Any, anew: Callable[[], Any]) -> Iterator[Target]:
    """The methods, fields and operators of objects of a class, one of which is `instance`."""
    names = {name for name in dir(value) if not name.startswith("_")}
    names |= {name for name in (*READERS, *OPERATORS) if is_our_own(value, name)}
    if not issubclass(value, Enum):
        names |= {name for name in vars_of(instance) if not name.startswith("_")}
    for name in sorted(names):
        if not (is_our_own(value, name) or name in vars_of(instance)):
            continue
        if f"{where}.{name}" in WAITING:
            continue
        static = inspect.getattr_static(value, name, None)
        if isinstance(static, property) or not callable(getattr(value, name, None)):
            yield Target(f"{where}.{name} =", lambda n=name: field(anew(), n), takes_more=False)
        else:
            yield Target(f"{where}.{name}", lambda name=name: getattr(anew(), name))
            if not isinstance(static, classmethod | staticmethod):
                # The method itself, so that the first argument is a hostile object.
                yield Target(
                    f"{where}.{name} of", lambda n=name: getattr(value, n), takes_more=False
                )
    if not issubclass(value, Enum | BaseException):
        yield Target(f"{where}.__init__ again", lambda: anew().__init__)


def vars_of(instance: Any) -> dict[str, Any]:
    try:
        return dict(vars(instance))
    except TypeError:
        return {}


def is_our_own(cls: type, name: str) -> bool:
    """Whether we wrote a member of a class, or it reads what we wrote."""
    if name in READERS:
        return hasattr(cls, "model_fields")
    for base in cls.__mro__:
        if name in vars(base):
            return base.__module__.startswith("amplifier_")
    return False


def mounted() -> Iterator[Target]:
    """What the modules of the package mount, their own functions aside."""
    from amplifier_modules import MODULES

    for module in MODULES:
        for slot, instance in mounted_by(module).items():
            anew = partial(lambda module, slot: mounted_by(module)[slot], module, slot)
            yield from members(f"{module} at {slot}", type(instance), instance, anew)


def mounted_by(module: str) -> dict[str, Any]:
    """What a module mounts, with as little configuration as it takes, by slot and name."""
    from amplifier_modules import MODULES

    mount = importlib.import_module(MODULES[module]).mount
    without_waits = {"max_retries": 0}
    for config in (without_waits, {}, {"api_key": "key", **without_waits}, {"root": "."}):
        coordinator = make_coordinator()
        # Each has a home of its own: what another one keeps in a file there is in use.
        os.environ["HOME"] = tempfile.mkdtemp(dir=HOMES)
        with contextlib.suppress(Exception):
            asyncio.run(mount(coordinator, config))
        points = coordinator.mount_points
        slots = {slot: points[slot] for slot in ("orchestrator", "context") if points[slot]}
        slots |= {name: it for slot in ("providers", "tools") for name, it in points[slot].items()}
        if slots:
            return slots
    return {}


def field(owner: Any, name: str) -> Callable[..., None]:
    """A function that reads a field, or sets it and uses its owner."""

    def read_or_set(*values: Any) -> None:
        for value in values:
            with contextlib.suppress(AttributeError, TypeError, ValueError):
                setattr(owner, name, value)
            getattr(owner, name)
        if not values:
            getattr(owner, name)
            with contextlib.suppress(AttributeError, TypeError):
                delattr(owner, name)

    return read_or_set
