"""A store of ours, opened without a session."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from .store import Store


def open_own_store(entry: Mapping[str, Any]) -> Store | None:
    """Return the store that an entry of a plan names; None for one that only sessions can open.

    Args:
        entry: Its `module` and `config`.

    Raises:
        SettingError: A value of the config cannot be used.
    """
    from .. import MODULES

    path = MODULES.get(entry["module"])
    module: Any = None if path is None else importlib.import_module(path)
    return module.open_store(entry.get("config")) if hasattr(module, "open_store") else None
