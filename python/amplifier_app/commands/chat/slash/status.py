"""`/status`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from amplifier_app.commands.chat.command import Command, CommandContext, Group, Shown, show_line
from amplifier_app.commands.model_choice import model_name
from amplifier_core.session_capabilities import MCP_SERVERS

_WIDTH = 8


async def _show_status(context: CommandContext, _: str) -> Shown:
    """Return a line for each thing; nothing is begun for that."""
    turns = context.turns
    rows = {
        "version": _find_version(),
        "model": model_name(turns.order, turns.answering),
        "folder": str(turns.order.folder),
        "session": await _describe_session(context),
        "sandbox": await asyncio.to_thread(_describe_sandbox),
        "servers": ", ".join(_list_servers(context)) or "none that is known of yet; `/mcp`",
        "usage": turns.sums[0],
        "mode": turns.mode or "the usual one",
    }
    if turns.goal is not None:
        rows["goal"] = turns.goal
    return [f"{name:<{_WIDTH}} {show_line(text)}" for name, text in rows.items()]


def _find_version() -> str:
    try:
        return version("amplifier-core")
    except PackageNotFoundError:
        return "from a checkout"


async def _describe_session(context: CommandContext) -> str:
    turns = context.turns
    if (id := turns.stored_id) is None:
        return "not stored yet" if turns.order.is_kept else "not stored"
    if turns.journal is None:
        stored = turns.order.stored
        return id if stored is None else f"{id} ({stored.title})"
    from amplifier_app.sessions.choice import title_of

    infos: list[Any] = await turns.journal.store.sessions()
    return next((f"{id} ({title_of(each)})" for each in infos if each.id == id), id)


def _describe_sandbox() -> str:
    from amplifier_modules.sandbox.command import Tier
    from amplifier_modules.sandbox.tiers import find_tier

    found = find_tier()
    if found.tier is Tier.NONE:
        return "none: a person is asked about each command"
    return f"{found.tier.value}{' by bubblewrap' if found.bubblewrap else ''}"


def _list_servers(context: CommandContext) -> Iterator[str]:
    from amplifier_app.commands.chat.server_states import describe_state

    servers: Any = context.turns.find_capability(MCP_SERVERS)
    for status in () if servers is None else servers.list_states():
        yield f"{status.name} ({describe_state(status)})"


STATUS = Command(
    name="/status",
    brief="what is in use",
    about="Show the version, model, folder, session, sandbox, MCP servers, tokens and mode.",
    group=Group.SESSION,
    run=_show_status,
)
