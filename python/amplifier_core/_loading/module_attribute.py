"""An optional attribute of a module."""

from __future__ import annotations

from types import ModuleType
from typing import Any


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
