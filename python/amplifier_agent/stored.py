"""The store of an agent, and what is in it without a session."""

from __future__ import annotations

from amplifier_core.llm_errors import ConfigurationError
from amplifier_core.mount_plan import find_store_entry
from amplifier_modules.stores import Store
from amplifier_modules.stores.opening import open_own_store

from .plan import Parts


def open_store(parts: Parts) -> Store:
    """Return the store of an agent.

    Raises:
        ConfigurationError: It has none, or that of a module which only sessions can open.
    """
    if parts.store is not None:
        return parts.store
    entry = find_store_entry(parts.plan)
    if entry is None:
        raise ConfigurationError('the agent has no store; give it one, such as `store="sqlite"`')
    store = open_own_store(entry)
    if store is None:
        raise ConfigurationError(
            f"the store `{entry['module']}` can be opened by a session alone; give the agent the"
            " store itself: `store=MyStore(…)`"
        )
    return store
