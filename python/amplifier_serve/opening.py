"""The store of workers and servers: an object, a name such as `sqlite`, or a module of a plan."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeAlias, cast

from amplifier_modules.stores import Store
from amplifier_modules.stores.naming import make_store_entry
from amplifier_modules.stores.opening import open_store as open_module

StorePlace: TypeAlias = Store | str | Mapping[str, Any]
"""A store, `"sqlite"`, `"postgresql://…"` or the name of another one, or an entry of a plan."""


@asynccontextmanager
async def open_store(place: StorePlace) -> AsyncGenerator[Store]:
    """Open a store; one that is an object is left open at the end.

    Raises:
        TypeError: It is no store.
        SettingError: A value of the config cannot be used.
        ConfigurationError: There is no such module, or it is no store.
    """
    if isinstance(place, str):
        place = make_store_entry(place)
    if isinstance(place, Mapping):
        async with open_module(place) as store:
            yield store
        return
    if isinstance(place, type) or not isinstance(cast("Any", place), Store):
        found = place.__name__ if isinstance(place, type) else type(place).__name__
        raise TypeError(f"`store` is `{found}` (must be text such as `sqlite`, or a `Store`)")
    yield place
