"""How a store is mounted: the session is resumed or begins, and what happens in it is stored."""

from __future__ import annotations

import os
import socket
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from amplifier_core import world
from amplifier_core.session_capabilities import (
    APPROVAL_POLICY,
    SESSION_ADDED_FOLDERS,
    SESSION_JOURNAL,
    SESSION_STORE,
    SESSION_STORE_CHILD,
    SESSION_STORED_HISTORY,
    SESSION_WORKING_DIR,
)

from ..tool.context import CURRENT
from .errors import StoreError, UnknownSessionError
from .journal import Journal
from .kept_todos import KeptTodos
from .recording import Recording
from .restoring import fill_context, restore_states
from .store import Claim, NewSession, Store
from .stored_history import read_history


async def mount_store(
    coordinator: Any, store: Store, parent: Journal | None = None
) -> Callable[[], Awaitable[None]]:
    """Store the session from now on, and go on with what is stored of it; return what ends that.

    The store takes no slot: it is the capability `session.store`.

    Args:
        coordinator: The coordinator of the session.
        store: Where it is stored.
        parent: The journal of the session that started it, as a sub-agent.

    Raises:
        StoreError: The store cannot be used, or what is stored is damaged.
    """

    async def store_child(child: Any) -> None:
        child.register_cleanup(await mount_store(child, store, journal))

    id, owner = coordinator.session_id, name_owner()
    try:
        claim = await store.claim(id, owner)
    except UnknownSessionError:
        journal = Journal(store, id, owner, _describe(coordinator), parent=parent)
    else:
        try:
            history = read_history(await store.read(id))
            entries = await store.inbox(id)
        except BaseException:
            await _give_back(store, claim)
            raise
        journal = Journal(store, id, owner, claim, parent=parent, history=history, entries=entries)
        coordinator.register_capability(SESSION_STORED_HISTORY, history)
        await restore_mounted(coordinator)
    coordinator.register_capability(SESSION_STORE, store)
    coordinator.register_capability(SESSION_STORE_CHILD, store_child)
    coordinator.register_capability(SESSION_JOURNAL, journal)
    unregister = Recording(journal, coordinator).register()
    return partial(_end, journal, unregister)


async def restore_mounted(coordinator: Any) -> None:
    """Give what is stored to the context and the loop that are mounted now, if anything is."""
    history = coordinator.get_capability(SESSION_STORED_HISTORY)
    if history is None:
        return
    context, loop = coordinator.get("context"), coordinator.get("orchestrator")
    if context is not None and await fill_context(context, history):
        restore_states(context, coordinator, history)
    if loop is not None:
        restore_states(loop, coordinator, history)
    tools: Mapping[str, Any] = coordinator.get("tools") or {}
    for tool in tools.values():
        restore_states(tool, coordinator, history)
    todos = KeptTodos(coordinator)
    if (body := history.states.get(todos.kind)) is not None:
        todos.restore(body)
    folders = coordinator.get_capability(SESSION_ADDED_FOLDERS)
    if folders is not None and (body := history.states.get(folders.kind)) is not None:
        folders.restore(body)
    policy = coordinator.get_capability(APPROVAL_POLICY)
    kind = getattr(policy, "kind", None)
    if isinstance(kind, str) and (body := history.states.get(kind)) is not None:
        await policy.restore(body)


def name_owner() -> str:
    """Return what names this process as the owner of a session: host, process and its start."""
    process = os.getpid()
    start = find_start(process)
    return f"{socket.gethostname()}:{process}{'' if start is None else f':{start}'}"


def find_start(process: int) -> str | None:
    """Return when a process began, as Linux counts it; None where that is not known.

    The number of a process that has ended is given to another one some time.
    """
    try:
        facts = Path(f"/proc/{process}/stat").read_bytes()
    except OSError:
        return None
    # The name of the program, in parentheses, may have spaces in it.
    fields = facts.rpartition(b")")[2].split()
    return fields[19].decode() if len(fields) > 19 else None


async def _give_back(store: Store, claim: Claim) -> None:
    """Own a session no more that could not be read."""
    with anyio.CancelScope(shield=True), suppress(StoreError):
        await store.end(claim)


async def _end(journal: Journal, unregister: Callable[[], None]) -> None:
    unregister()
    await journal.end()


def _describe(coordinator: Any) -> NewSession:
    folder = coordinator.get_capability(SESSION_WORKING_DIR) or Path.cwd()
    meta = {"folder": str(Path(folder).absolute()), "started": world.time()}
    parent, call = coordinator.parent_id, CURRENT.get(None)
    is_of_parent = call is not None and getattr(call.coordinator, "session_id", None) == parent
    return NewSession(parent=parent, call=call.key if call and is_of_parent else None, meta=meta)
