"""Modules of others that are known at once, and run when one of their names is asked for."""

from __future__ import annotations

import sys
import threading
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

_locks: dict[str, threading.RLock] = {}
"""By the names of those that have not run to their end."""
_running: set[str] = set()


def import_late(*names: str) -> None:
    """Have modules run at the first use of a name of theirs, not at their import.

    The submodules of a package can be imported without running the package itself. What is imported
    already, or not installed, stays as it is. A failure of the module comes at its first use, too.

    Args:
        names: The modules, a package before its submodules.
    """
    for name in names:
        spec = None if name in sys.modules else _find_spec(name)
        if spec is None:
            continue
        module = module_from_spec(spec)
        _locks[name] = threading.RLock()
        module.__class__ = _LateModule
        sys.modules[name] = module
        package, _, last = name.rpartition(".")
        if package in sys.modules:
            setattr(sys.modules[package], last, module)


def is_late(name: str) -> bool:
    """Whether a module has been imported, but has not run."""
    return name in _locks


class _LateModule(ModuleType):
    """A module that has not run to its end."""

    def __getattr__(self, name: str) -> Any:
        # An import of a submodule asks for it, also where there can be none.
        if name == "__path__" or not _run_module(self):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(self, name)

    def __setattr__(self, name: str, value: object) -> None:
        # What somebody puts in the place of a name has to outlive the run; imports set submodules.
        if not name.startswith("__") and not isinstance(value, ModuleType):
            _run_module(self)
        ModuleType.__setattr__(self, name, value)  # no `super`, as it is of another class now

    def __dir__(self) -> list[str]:
        _run_module(self)
        return list(ModuleType.__dir__(self))


def _run_module(module: ModuleType) -> bool:
    """Run a module to its end, unless this thread does that already; returns whether it has."""
    name = module.__name__
    lock = _locks.get(name)
    if lock is None:
        return True  # another thread has done it
    with lock:
        if name in _running:
            return False
        if name not in _locks:
            return True
        spec = module.__spec__
        assert spec is not None
        assert spec.loader is not None
        _running.add(name)
        try:
            spec.loader.exec_module(module)
            module.__class__ = ModuleType
            del _locks[name]
        finally:
            _running.discard(name)
    return True


def _find_spec(name: str) -> ModuleSpec | None:
    """Find a module without importing its package."""
    package = name.rpartition(".")[0]
    if not package:
        return find_spec(name)
    parent = find_spec(package)
    return None if parent is None else PathFinder.find_spec(name, parent.submodule_search_locations)
