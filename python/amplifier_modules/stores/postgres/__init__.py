"""`store-postgres`: the sessions of many machines in PostgreSQL."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from ..mounting import mount_store
from .settings import PostgresSettings
from .shared import open_store
from .store import PostgresStore

__all__ = ["PostgresSettings", "PostgresStore", "mount", "open_store"]

__amplifier_module_type__ = "hook"
__amplifier_settings__ = PostgresSettings


async def mount(
    coordinator: Any, config: Mapping[str, Any] | None = None
) -> Callable[[], Awaitable[None]]:
    """Store the session; return what ends that."""
    return await mount_store(coordinator, open_store(config))
