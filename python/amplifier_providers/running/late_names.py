"""Names of a package that are imported at their first use: who asks for one imports no other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module


def late_names(package: str, places: Mapping[str, tuple[str, str]]) -> Callable[[str], object]:
    """Return the `__getattr__` of a package.

    Args:
        package: Its name.
        places: The module in the package and the attribute there, by each name.
    """

    def find(name: str) -> object:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, attribute = places[name]
        return getattr(import_module(f"{package}.{module}"), attribute)

    return find
