"""Rules for all but messages: thinking, tools, options, the form of the answer."""

from __future__ import annotations

import math
import re

from ..serving.fields import is_kind
from ..serving.reading import read_items, read_mapping, read_objects
from .judged_request import FUNCTION, OPTIONS, TOOL, JudgedRequest
from .refusals import as_object, check_fields, make_refusal

_LEVELS = ("low", "medium", "high")
_DURATION = re.compile(r"[-+]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|s|m|h))+)")
_KINDS = {"integer": "integer", "number": "float32", "boolean": "bool", "array": "array"}


def check_chat(asked: JudgedRequest) -> None:
    """The model writes text: others only embed it."""
    if "completion" not in asked.model.capabilities:
        raise make_refusal(f'"{asked.model.name}" does not support chat')


def check_think(asked: JudgedRequest) -> None:
    """Only a model that can think is asked to, and only by a level if it knows levels."""
    think = asked.body.get("think")
    if think is None:
        return
    if not isinstance(think, bool) and (not isinstance(think, str) or think not in _LEVELS):
        given = f'"{think}"' if isinstance(think, str) else "of another type"
        raise make_refusal(
            f'invalid think value: {given} (must be "high", "medium", "low", true, or false)'
        )
    if think and "thinking" not in asked.model.capabilities:
        raise make_refusal(f'"{asked.model.name}" does not support thinking')
    if isinstance(think, str) and not asked.model.has_levels:
        raise make_refusal(f'think value "{think}" is not supported for this model')


def check_tools(asked: JudgedRequest) -> None:
    """Tools are functions with a name and a schema, for a model that can call them."""
    tools = read_items(asked.body.get("tools"))
    if tools and "tools" not in asked.model.capabilities:
        raise make_refusal(f"registry.ollama.ai/library/{asked.model.name} does not support tools")
    for value in tools:
        tool = as_object(value, ("tools",))
        check_fields(tool, TOOL, ("tools",))
        check_fields(tool["function"], FUNCTION, ("tools", "function"))
        if tool["type"] != "function" or not tool["function"]["name"]:
            raise make_refusal("a tool that is no function with a name")
        parameters = read_mapping(tool["function"].get("parameters"))
        if parameters and parameters.get("type") != "object":
            raise make_refusal("the parameters of a tool are no object")
        if not all(is_kind(each, "object") for each in _list_properties(parameters)):
            raise make_refusal("json: cannot unmarshal a property into api.ToolProperty")


def _list_properties(parameters: dict[str, object]) -> list[object]:
    found = parameters.get("properties")
    if found is not None and not is_kind(found, "object"):
        return [None]
    return list(read_mapping(found).values())


def check_options(asked: JudgedRequest) -> None:
    """Options are of their types; unknown ones are ignored."""
    for name, value in read_mapping(asked.body.get("options")).items():
        kind = OPTIONS.get(name)
        if kind is None or value is None:
            continue
        # A whole number that is written with a point counts, too.
        is_whole = kind == "integer" and isinstance(value, float) and value.is_integer()
        if not is_kind(value, kind) and not is_whole:
            raise make_refusal(f'option "{name}" must be of type {_KINDS[kind]}')
        if kind == "array" and not all(isinstance(each, str) for each in read_items(value)):
            raise make_refusal(f'option "{name}" must be of an array of strings')
        if name == "num_ctx" and value < 1:
            raise make_refusal("num_ctx must be at least 1")


def check_keep_alive(asked: JudgedRequest) -> None:
    """How long the model stays loaded is a number of seconds, or a duration such as `5m`."""
    value = asked.body.get("keep_alive")
    if value is None or (is_kind(value, "number") and math.isfinite(value)):
        return
    if not isinstance(value, str):
        raise make_refusal(f"Unsupported type: '{type(value).__name__}'")
    if not _DURATION.fullmatch(value):
        raise make_refusal(f'time: invalid duration "{value}"')


def check_format(asked: JudgedRequest) -> None:
    """The form of an answer is `json` or a schema."""
    wanted = asked.body.get("format")
    if wanted in (None, "", "json"):
        return
    if not is_kind(wanted, "object"):
        raise make_refusal('invalid format; expected "json" or a valid JSON Schema object')
    unresolved = [
        part["$ref"]
        for part in read_objects([*read_mapping(read_mapping(wanted).get("properties")).values()])
        if str(part.get("$ref", "#")).startswith("#/")
        and not _has_definition(read_mapping(wanted), part)
    ]
    if unresolved:
        raise make_refusal("invalid JSON schema in format")


def _has_definition(schema: dict[str, object], part: dict[str, object]) -> bool:
    found: object = schema
    for name in str(part["$ref"]).removeprefix("#/").split("/"):
        found = read_mapping(found).get(name)
    return found is not None
