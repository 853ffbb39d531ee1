"""`/context` and `/compact`: what fills the window of the model."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Mapping
from typing import Any

from amplifier_app.commands.chat.command import Command, CommandContext, Group, Shown, wait_always
from amplifier_app.commands.chat.slash.opened import open_conversation
from amplifier_app.commands.chat.slash.tools import find_deferred
from amplifier_app.failure import Failure
from amplifier_app.notice import measure_columns
from amplifier_app.plain_mode import is_plain
from amplifier_core.session_capabilities import TOOLS_OFFER

_BAR_CHARS = 20
_ROW_CHARS = 57
"""A row with its bar needs so many columns."""
_CHARS_PER_TOKEN = 4
_NAMES = {
    "system": "system prompt",
    "notes": "notes",
    "tools": "tools",
    "messages": "messages",
    "results": "tool results",
}


async def _show_window(context: CommandContext, _: str) -> Shown:
    """Show what the next request has.

    Raises:
        Failure: The context does not say it.
        Exception: What keeps a session from starting.
    """
    conversation = await open_conversation(context)
    describe = getattr(conversation.find_mounted("context"), "describe_window", None)
    if describe is None:
        raise Failure("the context of the session does not say what it has")
    described: dict[str, Any] = describe()
    last: dict[str, int] | None = described.pop("last")
    is_system_known = described["system"] is not None
    found: dict[str, int] = {key: tokens or 0 for key, tokens in described.items()}
    tools: Mapping[str, Any] = conversation.find_mounted("tools") or {}
    found["tools"] = _estimate_tools(tools, conversation.find_capability(TOOLS_OFFER))
    window = await _find_window(_find_provider(conversation.find_mounted("providers")))
    used = sum(found.values())
    counted = 0
    if last is not None:
        counted = last["counted"]
        used = max(0, counted + used - found["tools"] - last["estimated"])
    of = "" if window is None else f" of {window:,}"
    columns = measure_columns()
    has_bars = not is_plain(os.environ) and (columns is None or columns >= _ROW_CHARS)
    rows = {name: found[key] for key, name in _NAMES.items()}
    if window is not None:
        rows["free"] = max(0, window - used)
    lines = [f"about {used:,}{of} tokens"]
    lines += [_write_row(name, rows[name], window, has_bar=has_bars) for name in rows]
    if not is_system_known:
        lines[1] = f"  {_NAMES['system']:<14} {'?':>11}  known from the next request on"
    said = f"the service counted {counted:,} tokens in the last request; " if counted else ""
    return [*lines, f"{said}{'the rest is' if counted else 'these are'} estimates"]


def _write_row(name: str, tokens: int, window: int | None, *, has_bar: bool) -> str:
    row = f"  {name:<14} {tokens:>11,}"
    if window is None:
        return row
    share = min(1.0, tokens / window)
    full = round(share * _BAR_CHARS)
    bar = f"  {'#' * full}{'.' * (_BAR_CHARS - full)}" if has_bar else ""
    return f"{row}  {share:>4.0%}{bar}"


def _estimate_tools(tools: Mapping[str, Any], offer: Any) -> int:
    deferred = find_deferred(offer, tools)
    own: Mapping[str, Any] = getattr(offer, "tools", {})
    characters = 0
    for name, tool in {**tools, **own}.items():
        if name not in deferred:
            schema = json.dumps(getattr(tool, "input_schema", None), default=str)
            characters += len(name) + len(str(getattr(tool, "description", ""))) + len(schema)
    return characters // _CHARS_PER_TOKEN


def _find_provider(providers: Mapping[str, Any] | None) -> Any:
    return next(iter((providers or {}).values()), None)


async def _find_window(provider: Any) -> int | None:
    from amplifier_providers.requests.model_window import limits_of

    for name in ("get_model_info", "get_info"):
        ask = getattr(provider, name, None)
        if callable(ask):
            info: Any = ask()
            window, _ = limits_of(await info if inspect.isawaitable(info) else info)
            if window is not None:
                return window
    return None


async def _compact(context: CommandContext, wish: str) -> Shown:
    """Leave out old messages and results from the next requests.

    Raises:
        Failure: The context cannot do so at once, or no summary is written that could be wished for.
        Exception: What keeps a session from starting.
    """
    conversation = await open_conversation(context)
    kept: Any = conversation.find_mounted("context")
    if getattr(kept, "writes_summaries", False):
        kept.compact_later(wish)
        return ["your next prompt begins with a summary of what is left out"]
    if wish:
        hint = "say in your next prompt what counts, or have summaries written: `summarize`"
        raise Failure("no summary is written that `/compact` could take a wish for", hint=hint)
    compact = getattr(kept, "compact", None)
    if compact is None:
        raise Failure("the context of the session cannot be compacted at once")
    provider = _find_provider(conversation.find_mounted("providers"))
    before, after = await compact(provider)
    if after >= before:
        return [f"nothing can be left out of about {before:,} tokens"]
    return [
        f"about {before:,} tokens of messages before, {after:,} after (estimates)",
        "the model no longer reads what was left out; the conversation is stored whole",
    ]


CONTEXT = Command(
    name="/context",
    brief="what fills the window",
    about="Show what fills the window of the model: prompt, notes, tools, messages, results.",
    group=Group.MODEL,
    run=_show_window,
)
COMPACT = Command(
    name="/compact",
    usage="[WISH]",
    brief="shorten what it reads",
    about="Leave old results and messages out of the next requests. Where the context writes summaries,"
    " what follows is what the summary is to have above all; else say in your next prompt what counts.",
    group=Group.MODEL,
    run=_compact,
    waits=wait_always,
)
