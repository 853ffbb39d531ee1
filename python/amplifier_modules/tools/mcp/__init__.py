"""`tool-mcp`: the tools, resources and prompts of MCP servers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import anyio

from amplifier_core.events import PROVIDER_REQUEST
from amplifier_core.llm_errors import ConfigurationError
from amplifier_core.session_capabilities import (
    GUARD_REDACTOR,
    MCP_SERVERS,
    OBSERVABILITY_EVENTS,
    SESSION_ONE_TURN,
    SESSION_WORKING_DIR,
)
from amplifier_core.weak_link import link_weakly
from amplifier_guard import Redactor
from amplifier_modules.instructions.reporting import report_problems
from amplifier_modules.running.session_bound import session_bound
from amplifier_providers.settings import read_settings

from .known_tools import KnownTools
from .opening import make_opener
from .prompts import Prompt
from .put_aside import PutAside
from .resource_tool import ResourceTool
from .results import Cleaning, Results
from .server import ServerStatus, State
from .server_entry import ServerEntry
from .servers import (
    PROMPTS_CHANGED,
    SERVER_STATE,
    TOOLS_CHANGED,
    ServerContents,
    Servers,
    SessionLinks,
)
from .session_servers import NAME, collect_servers
from .settings import McpSettings, ServerSettings

__amplifier_module_type__ = "tool"
__amplifier_settings__ = McpSettings

__all__ = [
    "McpSettings",
    "Prompt",
    "ServerContents",
    "ServerSettings",
    "ServerStatus",
    "Servers",
    "State",
    "mount",
]


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
    """Mount `mcp_resources` and the tools that are known, and connect the servers.

    The capability `mcp.servers` has the `Servers`.

    Args:
        coordinator: Where they are mounted.
        config: The keys of `McpSettings`.

    Raises:
        SettingError: A value, or a file of the user, cannot be used.
        ConfigurationError: The package `mcp` is missing.
    """
    settings = read_settings(McpSettings, config, NAME)
    working = Path(coordinator.get_capability(SESSION_WORKING_DIR) or ".")
    found = await anyio.to_thread.run_sync(collect_servers, settings, working)
    entries = found.entries
    await report_problems(coordinator, NAME, found.problems)
    names_some = settings.servers or settings.server_files or settings.project_servers
    if names_some and not entries:
        return  # all of them are disabled, or nobody has agreed to them
    if entries and find_spec("mcp") is None:
        raise ConfigurationError(
            f"{NAME}: the package `mcp` is missing: `pip install 'amplifier-core[mcp]'`"
        )
    find_coordinator = link_weakly(coordinator)
    results = _make_results(settings, entries, find_coordinator)
    servers = Servers(
        entries,
        partial(make_opener, settings, find_coordinator, learn_secrets=results.learn_secrets),
        KnownTools(),
        results,
        _link_session(find_coordinator),
        patience=settings.start_timeout,
    )

    async def close() -> None:
        await servers.close()
        await anyio.to_thread.run_sync(_close_entries, entries)

    coordinator.register_cleanup(close)
    coordinator.register_capability(MCP_SERVERS, servers)
    coordinator.register_contributor(OBSERVABILITY_EVENTS, NAME, _list_events)
    resources = ResourceTool(servers.servers, results)
    await coordinator.mount("tools", resources, name=resources.name)
    unknown = await servers.mount_known()
    for server in unknown:
        server.start()
    if len(unknown) < len(entries):
        _start_at_first_request(coordinator, servers)
    if unknown and coordinator.get_capability(SESSION_ONE_TURN):
        with anyio.move_on_after(settings.first_wait):
            async with anyio.create_task_group() as group:
                for server in unknown:
                    group.start_soon(server.wait_until_settled)


def _close_entries(entries: Sequence[ServerEntry]) -> None:
    for entry in entries:
        entry.close()


def _list_events() -> list[str]:
    return [SERVER_STATE, TOOLS_CHANGED, PROMPTS_CHANGED]


def _make_results(
    settings: McpSettings, entries: Sequence[ServerEntry], find_coordinator: Callable[[], Any]
) -> Results:
    secrets = [secret for each in entries for secret in each.list_secrets(os.environ)]

    def find_redactor() -> Redactor | None:
        coordinator = find_coordinator()
        return None if coordinator is None else coordinator.get_capability(GUARD_REDACTOR)

    cleaning = Cleaning(settings.redact, find_redactor, secrets)
    return Results(cleaning, PutAside(), settings.max_result_bytes)


def _link_session(find_coordinator: Callable[[], Any]) -> SessionLinks:
    """Return what the servers do in a session; one that was freed has no more."""

    async def mount_tool(tool: Any) -> None:
        if (coordinator := find_coordinator()) is not None:
            await coordinator.mount("tools", tool, name=tool.name)

    async def emit(event: str, data: dict[str, Any]) -> None:
        hooks = getattr(find_coordinator(), "hooks", None)
        if hooks is not None:
            await hooks.emit(event, data)

    def list_names() -> list[str]:
        coordinator = find_coordinator()
        return [] if coordinator is None else list(coordinator.get("tools") or ())

    return SessionLinks(mount_tool, list_names, emit)


def _start_at_first_request(coordinator: Any, servers: Servers) -> None:
    """Connect the servers while the model answers: before, it would only delay the request."""

    @session_bound
    async def start(_event: str, _data: dict[str, Any]) -> None:
        unregister()
        servers.start()

    unregister = coordinator.hooks.register(PROVIDER_REQUEST, start, name=NAME)
