"""The store of an agent, used without a session."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

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
    from amplifier_modules.stores import opening

    if parts.store is not None:
        yield parts.store
        return
    entry = find_store_entry(parts.plan)
    if entry is None:
        raise ConfigurationError('the agent has no store; give it one, such as `store="sqlite"`')
    async with opening.open_store(entry) as store:
        yield store
