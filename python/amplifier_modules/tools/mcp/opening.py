"""How a connection to a server is opened, each time anew, by its entry."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import anyio.to_thread

from amplifier_core.session_capabilities import SESSION_WORKING_DIR

from .connection import Connection, ConnectionRules, OpenConnection, open_connection
from .elicitation import answer_question
from .server_entry import Address, Place, ServerEntry
from .server_process import run_server_process
from .settings import McpSettings


def make_opener(
    settings: McpSettings,
    find_coordinator: Callable[[], Any],
    entry: ServerEntry,
    learn_secrets: Callable[[Iterable[str]], None] = lambda _: None,
) -> OpenConnection:
    """Return what opens a connection to a server, each time anew.

    Args:
        settings: How long things may take, and what is reached.
        find_coordinator: Returns the coordinator of the session; None once it was freed.
        entry: What is written of the server.
        learn_secrets: Called with what must not be shown from now on.
    """

    @asynccontextmanager
    async def open_server() -> AsyncGenerator[Connection]:
        await anyio.to_thread.run_sync(entry.check)
        coordinator = find_coordinator()
        place = entry.resolve(os.environ, _find_folder(coordinator))
        asks = getattr(coordinator, "approval_system", None) is not None
        rules = ConnectionRules(
            settings.start_timeout,
            settings.call_timeout,
            partial(answer_question, entry.name) if asks else None,
        )
        del coordinator  # a session that nobody uses is freed
        # In a thread, which nobody waits for at the end: it takes a second of CPU.
        await anyio.to_thread.run_sync(import_module, "mcp", abandon_on_cancel=True)
        open_transport = partial(open_place, place, settings, learn_secrets=learn_secrets)
        async with open_connection(open_transport, rules) as connection:
            # What a file says that came and went in between does not count.
            await anyio.to_thread.run_sync(entry.check)
            yield connection

    return open_server


def open_place(
    place: Place,
    settings: McpSettings,
    note_end: Callable[[str], None],
    *,
    learn_secrets: Callable[[Iterable[str]], None],
) -> Any:
    """Return the transport to a server.

    Args:
        place: Where it is.
        settings: Which addresses are reached.
        note_end: Called with the reason when a server that was started here is over, or when one
            that runs elsewhere needs a login.
        learn_secrets: Called with what must not be shown from now on.
    """
    if isinstance(place, Address):
        # Late: the client of HTTP takes a while to import.
        from .http_transport import open_http
        from .login.login_store import LoginStore
        from .login.stored_login import StoredLogin

        allows_private = settings.private_addresses
        login = StoredLogin(
            place.name,
            place.url,
            LoginStore(),
            allows_private=allows_private,
            note_refused=note_end,
            learn_secrets=learn_secrets,
        )
        auth = None if place.has_own_key else login
        return open_http(place, allows_private=allows_private, auth=auth)
    if place.is_confined:
        from .project.confined_server import ConfinedLaunch, run_confined_server

        assert isinstance(place, ConfinedLaunch)
        return run_confined_server(place, note_end)
    return run_server_process(place, note_end)


def _find_folder(coordinator: Any) -> Path:
    """Return the folder that a session works in."""
    named = None if coordinator is None else coordinator.get_capability(SESSION_WORKING_DIR)
    return Path(named or ".").absolute()
