"""The tools of a request: functions, and those of the API itself."""

from __future__ import annotations

from amplifier_core.message_models import ChatRequest

from ..wire.body import WireRequest
from ..wire.fields import JsonDict, fields_of
from ..wire.options import note_unsent_choice, tool_fields, unknown_choice
from ..wire.schema import object_schema
from .config import PROVIDER, AnthropicConfig
from .turns import TOOL_NAMES

_WEB_SEARCH = {"type": "web_search_20250305", "name": "web_search"}


def add_tools(encoded: WireRequest, request: ChatRequest, config: AnthropicConfig) -> None:
    """Add the tools and the choice among them.

    Args:
        encoded: Gets them.
        request: Its tools; one with another `type` than `function` or `custom` is of the API.
        config: Says which tools of the API there are besides.

    Raises:
        InvalidRequestError: The choice means nothing.
    """
    of_api = [*config.tools, *([_WEB_SEARCH] if config.enable_web_search else ())]
    tools: dict[str, JsonDict] = {}
    sent: dict[str, str] = {}
    for tool in tool_fields(request):
        name = tool["name"]
        if tool.get("type", "custom") in {"custom", "function"}:
            sent[name] = TOOL_NAMES.fit_name(name)
            tools[sent[name]] = _encode_tool(tool, sent[name])
        else:
            of_api.append(_without_schema(tool))
    for tool in of_api:
        name = str(tool.get("name"))
        sent[name] = name
        tools[name] = dict(tool)
    if not tools:
        note_unsent_choice(encoded, request.tool_choice)
        return
    encoded.tool_names = {wire: name for name, wire in sent.items() if wire != name}
    encoded.fields["tools"] = list(tools.values())
    choice = _encode_tool_choice(request.tool_choice, sent, encoded.model)
    if choice is not None:
        encoded.fields["tool_choice"] = choice


def _encode_tool(tool: JsonDict, name: str) -> JsonDict:
    wire: JsonDict = {"name": name}
    if tool.get("description"):
        wire["description"] = tool["description"]
    wire["input_schema"] = object_schema(fields_of(tool.get("parameters")))
    if tool.get("defer_loading") is True:
        wire["defer_loading"] = True
    return wire


def _without_schema(tool: JsonDict) -> JsonDict:
    unsent = {"parameters", "description"}
    return {key: value for key, value in tool.items() if key not in unsent and value is not None}


def _encode_tool_choice(
    choice: str | JsonDict | None, sent: dict[str, str], model: str
) -> JsonDict | None:
    match choice:
        case None:
            return None
        case "auto" | "none" | "any":
            return {"type": choice}
        case "required":
            return {"type": "any"}
        case str(name) if name in sent:
            return {"type": "tool", "name": sent[name]}
        case {"type": "tool", "name": str(name)} if name in sent:
            return {**choice, "name": sent[name]}
        case {"type": "auto" | "none" | "any"}:
            return dict(choice)
        case {"function": {"name": str(name)}} if name in sent:
            return {"type": "tool", "name": sent[name]}
        case _:
            raise unknown_choice(choice, list(sent), PROVIDER, model)
