"""Whose sessions a store has: where its owners are tenants, each has a store of his own."""

from __future__ import annotations

from typing import Any

from amplifier_modules.stores import Store


def find_store_of(store: Store, owner: str | None) -> Store:
    """Return the store with the sessions of an owner; the same one where it has no tenants.

    Raises:
        SettingError: The owner can be no tenant.
    """
    for_tenant: Any = getattr(store, "for_tenant", None)
    return store if for_tenant is None or owner is None else for_tenant(owner)


async def list_due_stores(store: Store, now: float) -> list[Store]:
    """Return the stores in which a session may be due, those of the tenants first that wait longest.

    Raises:
        StoreError: The store cannot be read.
    """
    list_due_tenants: Any = getattr(store, "list_due_tenants", None)
    if list_due_tenants is None:
        return [store]
    return [find_store_of(store, each) for each in await list_due_tenants(now)]
