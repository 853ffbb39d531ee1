"""Names of a package that are imported at their first use, so that its own import costs little."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType


class LateNames:
    """What `__getattr__` and `__dir__` of a package are made of."""

    def __init__(self, package: str, homes: Mapping[str, str]) -> None:
        """Have a package import names at their first use.

        Args:
            package: Name of the package, which is being imported.
            homes: By submodule, the names that come from it, with spaces between them.
        """
        self._module = sys.modules[package]
        self._homes = {
            name: f"{package}.{home}" for home, names in homes.items() for name in names.split()
        }
        self._module.__class__ = _Package
        vars(self._module)["_late_names"] = frozenset(self._homes)

    def get(self, name: str) -> object:
        """Import a name, or a submodule that has names.

        Raises:
            AttributeError: There is neither.
        """
        package = self._module.__name__
        if name in self._homes:
            value = getattr(import_module(self._homes[name]), name)
            setattr(self._module, name, value)
            return value
        submodule = f"{package}.{name}"
        if submodule in self._homes.values():
            return import_module(submodule)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def list_names(self) -> list[str]:
        """List the names of the package, for `dir`."""
        return sorted({*vars(self._module), *self._homes})


class _Package(ModuleType):
    """A package whose names may be those of its submodules, too."""

    _late_names: frozenset[str]

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute, but for a submodule, which its import sets, in the place of a name."""
        if name not in self._late_names or not isinstance(value, ModuleType):
            super().__setattr__(name, value)
