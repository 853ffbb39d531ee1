"""The settings that a loaded module declares."""

from __future__ import annotations

import sys
from typing import Any

from .module_attribute import module_attribute

_ATTRIBUTE = "__amplifier_settings__"


def declared_settings(mount: Any) -> Any:
    """Return the model that a module names by `__amplifier_settings__`; None if it names none.

    Args:
        mount: The module's mount function, defined in the module or in a file of its folder.
    """
    name: object = getattr(mount, "__module__", None)
    if not isinstance(name, str):
        return None
    settings = module_attribute(sys.modules.get(name), _ATTRIBUTE)
    if settings is None and "." in name:
        settings = module_attribute(sys.modules.get(name.rpartition(".")[0]), _ATTRIBUTE)
    return settings
