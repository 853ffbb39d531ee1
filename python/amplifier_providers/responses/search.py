"""The service's own search for tools, which is run here: its tool, its calls and what they find."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

from amplifier_core.message_models import ChatRequest

from ..wire.fields import JsonDict, fields_of
from ..wire.options import tool_fields
from ..wire.schema import object_schema

SEARCH = "tool_search"
SEARCH_CALL = "tool_search_call"
"""The item with which a model searches."""


def find_finder(request: ChatRequest) -> str | None:
    """Return the name of the tool that finds others; None if the request has none that says so."""
    for tool in tool_fields(request):
        if tool.get("finds_tools") is True:
            return tool["name"]
    return None


def search_tool(tool: JsonDict) -> JsonDict:
    """Return the tool that finds others, as the service declares it."""
    return {
        "type": SEARCH,
        "execution": "client",
        "description": tool.get("description") or "",
        "parameters": object_schema(fields_of(tool.get("parameters"))),
    }


def read_search(item: JsonDict, finder: str) -> JsonDict:
    """Return a search of the model as a call of the tool that finds others."""
    given = item.get("arguments")
    if isinstance(given, str):
        given = _read_json(given)
    is_usable = isinstance(given, dict)
    return {
        "type": "tool_call",
        "id": item.get("call_id") or item.get("id"),
        "name": finder,
        "arguments": given if is_usable else None,
        "error": None if is_usable else "the arguments are not a JSON object",
        "item": item,
    }


def write_search(call_id: str, arguments: JsonDict, item: JsonDict) -> JsonDict:
    """Return such a call as the item that it was."""
    call = {"type": SEARCH_CALL, "call_id": call_id, "arguments": arguments}
    item_id = {"id": item["id"]} if item.get("id") else {}
    return {**call, "execution": "client", "status": "completed", **item_id}


def write_found(call_id: str, output: Any) -> JsonDict:
    """Return the result of a search: the functions that it describes, each in a line of its own."""
    text = output if isinstance(output, str) else ""
    found = {"type": f"{SEARCH}_output", "call_id": call_id, "execution": "client"}
    return {**found, "status": "completed", "tools": list(_list_functions(text))}


def _list_functions(text: str) -> Iterator[JsonDict]:
    for line in text.splitlines():
        about = _read_json(line)
        if not isinstance(about, dict):
            continue
        fields = cast("JsonDict", about)
        if isinstance(fields.get("name"), str) and isinstance(fields.get("parameters"), dict):
            yield {
                "type": "function",
                "name": fields["name"],
                "description": str(fields.get("description") or ""),
                "parameters": object_schema(fields["parameters"]),
                "strict": False,
                "defer_loading": True,
            }


def _read_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
