"""Rules for tools and for the choice among them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..serving.fields import Fields, Path
from ..serving.reading import Json, read_mapping, read_text
from ..serving.schema import TYPES
from .judged_request import JudgedRequest
from .models import check_held_schema
from .refusals import make_invalid
from .shapes import (
    BETA_SERVER_TOOLS,
    CUSTOM_TOOL,
    SERVER_TOOLS,
    TOOL_CHOICE,
    as_object,
    check_fields,
    check_tagged,
)

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_DATE = re.compile(r"(_\d{8})?")
_NAMED_BY_VERSION = ("text_editor",)
"""Tools of Anthropic whose name is not that of their type."""


def check_tools(asked: JudgedRequest) -> None:
    """Each tool is one that can be: of the client with a schema, or of Anthropic by its type."""
    for index, value in enumerate(asked.body.get("tools", [])):
        tool = as_object(value, ("tools", index))
        kind = tool.get("type") or "custom"
        if not isinstance(kind, str):
            raise make_invalid("Input should be a valid string", ("tools", index, "type"))
        if kind == "custom":
            _check_custom(tool, ("tools", index, "custom"))
        else:
            kinds = BETA_SERVER_TOOLS if asked.is_beta else SERVER_TOOLS
            _check_server_tool(tool, kinds, kind, index)


def _check_custom(tool: Json, path: Path) -> None:
    check_fields(tool, CUSTOM_TOOL, path)
    if not _NAME.fullmatch(tool["name"]):
        raise make_invalid("String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", (*path, "name"))
    check_input_schema(tool["input_schema"], (*path, "input_schema"))
    if tool.get("strict"):
        check_held_schema(tool["input_schema"], (*path, "input_schema"))


def check_input_schema(schema: Mapping[str, Any], path: Path) -> None:
    """Refuse a schema of arguments that is none of a plain object."""
    if "type" not in schema:
        raise make_invalid("Field required", (*path, "type"))
    if schema["type"] != "object":
        raise make_invalid("Input should be 'object'", (*path, "type"))
    if {"oneOf", "allOf", "anyOf"} & schema.keys():
        raise make_invalid(
            "input_schema does not support oneOf, allOf, or anyOf at the top level", path
        )
    properties = as_object(schema.get("properties") or {}, (*path, "properties"))
    for name, part in properties.items():
        if not _PROPERTY.fullmatch(name):
            raise make_invalid(
                "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'",
                (*path, "properties"),
            )
        kind = read_mapping(part).get("type", "object")
        for each in kind if isinstance(kind, list) else [kind]:  # pyright: ignore[reportUnknownVariableType]
            if each not in TYPES:
                raise make_invalid(
                    "JSON schema is invalid. It must match JSON Schema draft 2020-12", path
                )


def _check_server_tool(tool: Json, kinds: Mapping[str, Fields], kind: str, index: int) -> None:
    for start, fields in kinds.items():
        if kind.startswith(start) and _DATE.fullmatch(kind, len(start)):
            inner = {name: tool[name] for name in tool if name != "type"}
            check_fields(inner, fields, ("tools", index, kind))
            is_named = "name" in fields.required and start not in _NAMED_BY_VERSION
            if is_named and tool["name"] != start:
                raise make_invalid(f"Input should be '{start}'", ("tools", index, kind, "name"))
            if tool.get("allowed_domains") and tool.get("blocked_domains"):
                raise make_invalid(
                    "Only one of `allowed_domains` and `blocked_domains` may be specified",
                    ("tools", index, kind),
                )
            return
    raise make_invalid(
        f"Input tag '{kind}' found using 'type' does not match any of the expected tags:"
        f" {', '.join(repr(name) for name in ('custom', *kinds))}",
        ("tools", index),
    )


def check_names_are_unique(asked: JudgedRequest) -> None:
    """No two tools have one name."""
    names = [tool["name"] for tool in asked.tools if "name" in tool]
    if len(set(names)) < len(names):
        raise make_invalid("tools: Tool names must be unique.")


def check_tool_choice(asked: JudgedRequest) -> None:
    """A choice is one of tools that are there, and none that the model or its thinking excludes."""
    if "tool_choice" not in asked.body:
        return
    choice = asked.body["tool_choice"]
    kind = check_tagged(choice, TOOL_CHOICE, ("tool_choice",))
    if not asked.tools:
        raise make_invalid("tool_choice may only be specified while providing tools")
    if kind == "tool" and choice["name"] not in {
        read_text(tool.get("name")) for tool in asked.tools
    }:
        raise make_invalid(f"Tool '{choice['name']}' not found in provided tools")
    if kind in {"any", "tool"}:
        if asked.thinking in {"enabled", "adaptive", "between_tools"}:
            raise make_invalid("Thinking may not be enabled when tool_choice forces tool use.")
        if not asked.model.forced_tools:
            raise make_invalid("tool_choice that forces tool use is not supported for this model.")
