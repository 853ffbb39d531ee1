"""Rules for tools and for the choice among them."""

from __future__ import annotations

from ..openai.refusals import as_object, check_fields, check_value, make_invalid
from ..openai.schemas import check_name, check_parameters
from ..serving.fields import Path
from ..serving.reading import Json, read_items, read_text
from .judged_request import JudgedRequest
from .shapes import TOOLS

_CHOICES = ("none", "auto", "required")


def check_tools(asked: JudgedRequest) -> None:
    """Each tool is one that can be."""
    for index, value in enumerate(asked.body.get("tools", [])):
        path: Path = ("tools", index)
        tool = as_object(value, path)
        if "type" not in tool:
            raise make_invalid(
                f"Missing required parameter: 'tools[{index}].type'.",
                (*path, "type"),
                "missing_required_parameter",
            )
        check_value(tool["type"], TOOLS, (*path, "type"))
        inner = {name: tool[name] for name in tool if name != "type"}
        check_fields(inner, TOOLS[tool["type"]], path)
        if tool["type"] in {"function", "custom"}:
            check_name(tool["name"], (*path, "name"))
        if tool["type"] == "function":
            strict = bool(tool.get("strict"))
            check_parameters(tool["name"], tool["parameters"], (*path, "parameters"), strict=strict)


def check_names_are_unique(asked: JudgedRequest) -> None:
    """No two tools have one name."""
    names = [tool["name"] for tool in asked.tools if tool["type"] in {"function", "custom"}]
    for name in names:
        if names.count(name) > 1:
            raise make_invalid(
                f"Duplicate tool name '{name}' in 'tools'.", "tools", "invalid_value"
            )


def check_tool_choice(asked: JudgedRequest) -> None:
    """A choice is one of tools that are there."""
    choice = asked.body.get("tool_choice", "auto")
    if isinstance(choice, str):
        check_value(choice, _CHOICES, ("tool_choice",))
        if choice == "required" and not asked.tools:
            raise make_invalid(
                "Tool choice 'required' must be specified with 'tools' parameter.", "tool_choice"
            )
        return
    kind = read_text(choice.get("type"))
    if kind == "allowed_tools":
        check_value(choice.get("mode"), ("auto", "required"), ("tool_choice", "mode"))
        for index, each in enumerate(read_items(choice.get("tools"))):
            path: Path = ("tool_choice", "tools", index)
            _check_chosen(asked, as_object(each, path), path)
        return
    _check_chosen(asked, choice, ("tool_choice",))


def _check_chosen(asked: JudgedRequest, choice: Json, path: Path) -> None:
    kind = read_text(choice.get("type"))
    check_value(kind, TOOLS, (*path, "type"))
    if kind in {"function", "custom"} and "name" not in choice:
        raise make_invalid(
            "Missing required parameter: 'tool_choice.name'.",
            (*path, "name"),
            "missing_required_parameter",
        )
    wanted = (kind, read_text(choice.get("name")))
    there = {(tool["type"], read_text(tool.get("name"))) for tool in asked.tools}
    kinds = {tool["type"] for tool in asked.tools}
    if wanted not in there and (kind in {"function", "custom"} or kind not in kinds):
        raise make_invalid(f"Tool choice '{kind}' not found in 'tools' parameter.", "tool_choice")
