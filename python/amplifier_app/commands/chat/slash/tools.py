"""`/tools`."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Mapping
from typing import Any

from amplifier_app.commands.chat.command import Command, CommandContext, Group, Shown, show_line
from amplifier_app.commands.chat.slash.opened import open_conversation
from amplifier_app.failure import Failure
from amplifier_app.line_input.candidate import Candidate
from amplifier_core.session_capabilities import TOOLS_OFFER

_MAX_WIDTH = 32
_MAX_FIRST_CHARS = 100


async def _show_tools(context: CommandContext, name: str) -> Shown:
    """Show the tools; of one what the model reads of it.

    Raises:
        Failure: There is no such tool.
        Exception: What keeps a session from starting.
    """
    from amplifier_app.commands.tool.list import find_origin

    conversation = await open_conversation(context)
    tools: Mapping[str, Any] = conversation.find_mounted("tools") or {}
    deferred = find_deferred(conversation.find_capability(TOOLS_OFFER), tools)
    if name:
        if (tool := tools.get(name)) is None:
            raise Failure(f"there is no tool `{name}`", hint="`/tools` lists them")
        late = ", deferred: the model looks it up" if name in deferred else ""
        first = show_line(f"{name} from {find_origin(tool)}{late}")
        return [first, *_describe_tool(tool)]
    if not tools:
        return ["the session has no tools"]
    width = min(_MAX_WIDTH, max(map(len, tools)))
    return [
        f"{show_line(each):<{width}}  {show_line(find_origin(tool))}"
        f"{', deferred' * (each in deferred)}: {_find_first(tool)}"
        for each, tool in tools.items()
    ]


def find_deferred(offer: Any, tools: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of the tools that requests only name.

    Args:
        offer: The `ToolOffer` of the session; None where requests describe all.
        tools: The tools that are mounted.
    """
    if offer is None:
        return frozenset()
    return frozenset(tools) - {spec.name for spec in offer.list_sent()}


def _describe_tool(tool: Any) -> Iterator[str]:
    yield from map(show_line, _read_description(tool).splitlines())
    schema = getattr(tool, "input_schema", None)
    if isinstance(schema, Mapping):
        written = json.dumps(schema, indent=2, ensure_ascii=False, default=str)
        for line in written.splitlines():
            indent = len(line) - len(line.lstrip())
            yield " " * indent + show_line(line)


def _find_first(tool: Any) -> str:
    first = show_line(_read_description(tool)).partition(". ")[0].rstrip(".")
    if len(first) <= _MAX_FIRST_CHARS:
        return first
    return first[:_MAX_FIRST_CHARS].rsplit(" ", 1)[0] + " …"


def _read_description(tool: Any) -> str:
    return inspect.cleandoc(str(getattr(tool, "description", "") or ""))


def _complete_tools(context: CommandContext, _: str) -> Iterator[Candidate]:
    conversation = context.turns.conversation
    tools: Mapping[str, Any] = {}
    if conversation is not None:
        tools = conversation.find_mounted("tools") or {}
    for name, tool in tools.items():
        yield Candidate(name, _find_first(tool))


TOOLS = Command(
    name="/tools",
    usage="[NAME]",
    brief="what the model calls",
    about="List the tools of the session; with a name, what the model reads of one.",
    group=Group.TOOLS,
    run=_show_tools,
    complete=_complete_tools,
)
