"""Modules that are importable under a second name, as the same module object."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

_given: dict[str, ModuleType] = {}
"""What was imported under a second name."""


class SecondName(Loader):
    """Gives the module of another name."""

    def __init__(self, module_name: str) -> None:
        """Give the module of this name."""
        self._module_name = module_name
        self._own_spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Import the module under its own name."""
        module = import_module(self._module_name)
        self._own_spec = module.__spec__
        _given[spec.name] = module
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own spec back, which the import has replaced: `reload` needs it."""
        module.__spec__ = self._own_spec


def second_spec(name: str, module_name: str) -> ModuleSpec | None:
    """Return the spec for a second name of a module; None if there is no such module."""
    try:
        own = find_spec(module_name)
    except ModuleNotFoundError:
        return None
    if own is None:
        return None
    spec = ModuleSpec(name, SecondName(module_name), origin=own.origin)
    spec.submodule_search_locations = own.submodule_search_locations
    return spec


def is_second_name(name: str) -> bool:
    """Whether the module that is imported under this name was given by another one."""
    return name in _given and sys.modules.get(name) is _given[name]


def forget_second_name(name: str) -> None:
    """Have the next import of a name look for a package that is really called so."""
    if is_second_name(name):
        del sys.modules[name]
