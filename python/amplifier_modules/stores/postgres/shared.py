"""Stores of a process that share their connections: one pool for each database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakValueDictionary

from .link import Link
from .settings import DEFAULT_TENANT, PostgresSettings
from .store import PostgresStore

_links: WeakValueDictionary[PostgresSettings, Link] = WeakValueDictionary()


def open_store(config: Mapping[str, Any] | None = None) -> PostgresStore:
    """Return a store over the connections that this process has to its database, if it has any.

    To close it closes them for all; the next call opens new ones.

    Raises:
        SettingError: A value of the config cannot be used.
        ConfigurationError: There is no `asyncpg`, or this is Windows.
    """
    store = PostgresStore(config)
    of_all = store.settings.model_copy(update={"tenant": DEFAULT_TENANT})
    store.link = _links.setdefault(of_all, store.link)
    return store
