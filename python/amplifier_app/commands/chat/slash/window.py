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
_COLUMNS_OF_BAR = 60
"""There is no bar where the terminal has fewer columns."""
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
    found: dict[str, Any] = describe()
    last: dict[str, int] | None = found.pop("last")
    tools: Mapping[str, Any] = conversation.find_mounted("tools") or {}
    found["tools"] = _estimate_tools(tools, conversation.find_capability(TOOLS_OFFER))
    window = await _find_window(_find_provider(conversation.find_mounted("providers")))
    used = sum(found.values())
    counted = 0
    if last is not None:
        counted = last["counted"]
        used = max(0, counted + used - found["tools"] - last["estimated"])
    of = "" if window is None else f" of {window:,}"
    lines = [f"about {used:,}{of} tokens"]
    lines += [_write_row(name, found[key], window) for key, name in _NAMES.items()]
    if window is not None:
        lines.append(_write_row("free", max(0, window - used), window))
    said = f"the service counted {counted:,} tokens in the last request; " if counted else ""
    return [*lines, f"{said}{'the rest is' if counted else 'these are'} estimates"]


def _write_row(name: str, tokens: int, window: int | None) -> str:
    row = f"  {name:<14} {tokens:>11,}"
    if window is None:
        return row
    share = min(1.0, tokens / window)
    full = round(share * _BAR_CHARS)
    row = f"{row}  {share:>4.0%}"
    if is_plain(os.environ) or (measure_columns() or _COLUMNS_OF_BAR) < _COLUMNS_OF_BAR:
        return row
    return f"{row}  {'#' * full}{'.' * (_BAR_CHARS - full)}"


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


async def _compact(context: CommandContext, argument: str) -> Shown:
    """Leave out old messages and results from the next requests.

    Raises:
        Failure: The context cannot do so at once, or it is told what to keep.
        Exception: What keeps a session from starting.
    """
    if argument:
        hint = "say in your next prompt what counts"
        raise Failure("`/compact` takes nothing", hint=hint)
    conversation = await open_conversation(context)
    compact = getattr(conversation.find_mounted("context"), "compact", None)
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
    brief="shorten what it reads",
    about="Leave old results and messages out of the next requests, without a summary.",
    group=Group.MODEL,
    run=_compact,
    waits=wait_always,
)
