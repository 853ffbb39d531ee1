"""Stores that the sessions of a process share: one pool of connections for each database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakValueDictionary

from .settings import PostgresSettings
from .store import PostgresStore

_shared: WeakValueDictionary[PostgresSettings, PostgresStore] = WeakValueDictionary()


def open_store(config: Mapping[str, Any] | None = None) -> PostgresStore:
    """Return the store of a database and tenant: the one that this process has, or a new one.

    Raises:
        SettingError: A value of the config cannot be used.
        ConfigurationError: There is no `asyncpg`, or this is Windows.
    """
    store = PostgresStore(config)
    return _shared.setdefault(store.settings, store)
