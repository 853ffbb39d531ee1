"""The store of an agent, used without a session."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from amplifier_core.llm_errors import ConfigurationError
from amplifier_core.mount_plan import find_store_entry

if TYPE_CHECKING:
    from amplifier_modules.stores import Store

    from .plan import Parts


def has_store(parts: Parts) -> bool:
    """Whether the sessions of an agent are stored."""
    return parts.store is not None or find_store_entry(parts.plan) is not None


@asynccontextmanager
async def open_store(parts: Parts) -> AsyncGenerator[Store]:
    """Open the store of an agent.

    Raises:
        ConfigurationError: It has none, or that of its plan cannot be loaded.
    """
    from amplifier_modules.stores.opening import open_own_store

    if parts.store is not None:
        yield parts.store
        return
    entry = find_store_entry(parts.plan)
    if entry is None:
        raise ConfigurationError('the agent has no store; give it one, such as `store="sqlite"`')
    if (own := open_own_store(entry)) is not None:
        yield own  # which the sessions of the process share
        return
    async with _mount_alone(entry) as store:
        yield store


@asynccontextmanager
async def _mount_alone(entry: Mapping[str, Any]) -> AsyncGenerator[Store]:
    """Mount a store in a session that runs no turn, and so leaves nothing in it."""
    from amplifier_core import AmplifierSession
    from amplifier_core.session_capabilities import SESSION_STORE

    plan = {
        "session": {"orchestrator": "loop-basic", "context": "context-simple", "store": dict(entry)}
    }
    async with AmplifierSession(plan) as session:
        store = session.coordinator.get_capability(SESSION_STORE)
        if store is None:
            raise ConfigurationError(
                f"the module `{entry['module']}` registers no capability `{SESSION_STORE}`"
            )
        yield store
