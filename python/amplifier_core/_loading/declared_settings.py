"""The settings that a loaded module declares."""

from __future__ import annotations

import sys
from typing import Any

_ATTRIBUTE = "__amplifier_settings__"


def declared_settings(mount: Any) -> Any:
    """Return the model that a module names by `__amplifier_settings__`; None if it names none.

    Args:
        mount: The module's mount function, defined in the module or in a file of its folder.
    """
    name: object = getattr(mount, "__module__", None)
    if not isinstance(name, str):
        return None
    for place in (name, name.rpartition(".")[0]):
        settings = getattr(sys.modules.get(place), _ATTRIBUTE, None)
        if settings is not None:
            return settings
    return None
