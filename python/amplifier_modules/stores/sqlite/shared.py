"""Stores that the sessions of a process share: one thread writes for all that have one folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from .store import SqliteStore

_shared: WeakValueDictionary[tuple[Path, str], SqliteStore] = WeakValueDictionary()


def open_store(config: Mapping[str, Any] | None = None) -> SqliteStore:
    """Return the store of a folder: the one that sessions of this process have, or a new one.

    Raises:
        SettingError: A value of the config cannot be used.
    """
    store = SqliteStore(config)
    return _shared.setdefault((store.folder.absolute(), store.journal_mode), store)
