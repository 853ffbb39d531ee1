"""The tools of a request: functions, and those of the service itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amplifier_core.message_models import ChatRequest

from ..wire.body import WireRequest
from ..wire.fields import JsonDict, fields_of
from ..wire.options import note_unsent_choice, tool_fields, unknown_choice
from ..wire.schema import object_schema, strict_schema
from .search import search_tool
from .turns import TOOL_NAMES

_INCLUDED = {
    "web_search": "web_search_call.action.sources",
    "file_search": "file_search_call.results",
    "code_interpreter": "code_interpreter_call.outputs",
}
"""What must be asked for, so that the blocks of these tools have their results."""


def add_tools(
    encoded: WireRequest, request: ChatRequest, native: Sequence[JsonDict], is_parallel: bool
) -> None:
    """Add the tools and the choice among them.

    Args:
        encoded: Gets them.
        request: Its tools; one with another `type` than `function` is of the service.
        native: More tools of the service.
        is_parallel: Whether one answer may have several calls.

    Raises:
        InvalidRequestError: The choice means nothing.
    """
    sent: dict[str, str] = {}
    tools: list[JsonDict] = []
    own = {tool.get("type") for tool in native}
    for tool in tool_fields(request):
        name = tool["name"]
        if name in own:
            continue  # the service offers it, and this runs it
        if tool.get("defer_loading") is True:
            continue  # what a search finds brings it
        if tool.get("finds_tools") is True:
            tools.append(search_tool(tool))
            continue
        if tool.get("type", "function") == "function":
            sent[name] = TOOL_NAMES.fit_name(name)
            tools.append(_write_function(tool, sent[name]))
        else:
            tools.append(_write_native(tool))
            if tool["type"] == "custom":
                sent[name] = name
    types = [tool["type"] for tool in tools]
    tools += [dict(tool) for tool in native if tool.get("type") not in types]
    if not tools:
        note_unsent_choice(encoded, request.tool_choice)
        return
    encoded.tool_names = {wire: name for name, wire in sent.items() if wire != name}
    encoded.fields["tools"] = tools
    encoded.fields["parallel_tool_calls"] = is_parallel
    choice = _write_choice(request.tool_choice, sent, tools, encoded)
    if choice is not None:
        encoded.fields["tool_choice"] = choice


def included_results(tools: Sequence[JsonDict]) -> list[str]:
    """Return what is to be included, so that the results of the service's tools are seen."""
    kinds = [str(tool.get("type")) for tool in tools]
    return [value for kind, value in _INCLUDED.items() if any(k.startswith(kind) for k in kinds)]


def _write_function(tool: JsonDict, name: str) -> JsonDict:
    wire: JsonDict = {"type": "function", "name": name}
    if tool.get("description"):
        wire["description"] = tool["description"]
    parameters = object_schema(fields_of(tool.get("parameters")))
    strict = strict_schema(parameters) if tool.get("strict") else None
    wire["parameters"] = parameters if strict is None else strict
    # The API takes a function without this as strict, and rewrites its schema.
    wire["strict"] = strict is not None
    return wire


def _write_native(tool: JsonDict) -> JsonDict:
    unsent = {"parameters"} if tool["type"] == "custom" else {"name", "parameters", "description"}
    return {key: value for key, value in tool.items() if key not in unsent and value is not None}


def _write_choice(
    choice: str | JsonDict | None, sent: dict[str, str], tools: list[JsonDict], encoded: WireRequest
) -> str | JsonDict | None:
    types: set[Any] = {tool["type"] for tool in tools} - {"function", "custom"}
    match choice:
        case None:
            return None
        case "auto" | "none" | "required":
            return choice
        case "any":
            return "required"
        case str(name) if name in sent:
            return _choice_of(sent[name], tools)
        case str(kind) if kind in types:
            return {"type": kind}
        case {"type": "auto" | "none" | "required" as word}:
            return word
        case {"type": "any"}:
            return "required"
        case {"type": "tool" | "function" | "custom", "name": str(name)} if name in sent:
            return _choice_of(sent[name], tools)
        case {"function": {"name": str(name)}} if name in sent:
            return _choice_of(sent[name], tools)
        case {"type": kind} if kind in types or kind in {"allowed_tools", "mcp"}:
            return dict(choice)
        case _:
            known = [*sent, *sorted(types)]
            raise unknown_choice(choice, known, encoded.provider, encoded.model)


def _choice_of(name: str, tools: list[JsonDict]) -> JsonDict:
    kind = next(tool["type"] for tool in tools if tool.get("name") == name)
    return {"type": kind, "name": name}
