"""The store of a plan, used without a session."""

from __future__ import annotations

import importlib
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from amplifier_core import AmplifierSession
from amplifier_core.llm_errors import ConfigurationError
from amplifier_core.session_capabilities import SESSION_STORE

from .store import Store


@asynccontextmanager
async def open_store(entry: Mapping[str, Any]) -> AsyncGenerator[Store]:
    """Open the store that an entry of a plan names.

    Args:
        entry: Its `module` and `config`.

    Raises:
        SettingError: A value of the config cannot be used.
        ConfigurationError: The module cannot be loaded, or is no store.
    """
    from .. import MODULES

    path = MODULES.get(entry["module"])
    module: Any = None if path is None else importlib.import_module(path)
    if hasattr(module, "open_store"):
        # One that the sessions of the process share, so that it is not closed here.
        yield module.open_store(entry.get("config"))
        return
    async with _mount_alone(entry) as store:
        yield store


@asynccontextmanager
async def _mount_alone(entry: Mapping[str, Any]) -> AsyncGenerator[Store]:
    """Mount a store of others in a session that runs no turn, and so leaves nothing in it."""
    plan = {"orchestrator": "loop-basic", "context": "context-simple", "store": dict(entry)}
    session = AmplifierSession({"session": plan})
    try:
        await session.initialize()
    except RuntimeError as error:
        await session.cleanup()
        raise ConfigurationError(str(error)) from error
    try:
        store = session.coordinator.get_capability(SESSION_STORE)
        if store is None:
            raise ConfigurationError(
                f"the module `{entry['module']}` is no store: it registers no `{SESSION_STORE}`"
            )
        yield store
    finally:
        await session.cleanup()
