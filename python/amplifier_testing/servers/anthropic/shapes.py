"""The fields of each object of a request: those of the SDK, and where the service differs from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ..serving.fields import Fields, Path, Problem, find_problem, read_sdk_fields
from ..serving.reading import Json, read_mapping
from .refusals import make_invalid

_SDK = read_sdk_fields("anthropic")

_SAMPLING = {"temperature": "number", "top_k": "integer", "top_p": "number"}
"""What the SDK no longer has, as its newest models refuse it; older ones take it."""

_REQUIRED = {"model": "string", "messages": "array", "max_tokens": "integer"}
"""In the order in which the service reports that they are missing."""

BODY = _SDK.objects["body"].extend(_REQUIRED, _SAMPLING)
BETA_BODY = _SDK.objects["beta_body"].extend(
    _REQUIRED,
    # The form before `output_config.format`, which the service still takes.
    {**_SAMPLING, "output_format": "object|null"},
)
"""With the header `anthropic-beta`."""

MESSAGE = _SDK.objects["message"]

_CALLER = {"caller": "object|null"}
"""What blocks of an answer hold as null, in the form in which the SDK writes them."""


def _take_null_callers(blocks: Mapping[str, Fields]) -> Mapping[str, Fields]:
    return {
        name: fields.extend(optional=_CALLER) if "caller" in fields.optional else fields
        for name, fields in blocks.items()
    }


BLOCKS = _take_null_callers(_SDK.groups["blocks"])
"""Content blocks of a message."""
BETA_BLOCKS = _take_null_callers(_SDK.groups["beta_blocks"])
TEXT_BLOCKS = {"text": BLOCKS["text"]}
RESULT_BLOCKS = _SDK.groups["result_blocks"]
"""Blocks of the content of a tool result."""

CUSTOM_TOOL = _SDK.objects["custom_tool"]
SERVER_TOOLS = {name: tool for name, tool in _SDK.groups["tools"].items() if name != "custom"}
"""Tools of Anthropic, by their types without the date that ends them."""
BETA_SERVER_TOOLS = {
    name: tool for name, tool in _SDK.groups["beta_tools"].items() if name != "custom"
}

THINKING = _SDK.groups["thinking"]
TOOL_CHOICE = _SDK.groups["tool_choice"]
CACHE_CONTROL = _SDK.objects["cache_control"]
METADATA = _SDK.objects["metadata"]
OUTPUT_CONFIG = _SDK.objects["output_config"]
OUTPUT_FORMAT = _SDK.groups["output_format"]
IMAGE_SOURCES = _SDK.groups["image_sources"]
DOCUMENT_SOURCES = _SDK.groups["document_sources"]

_EXPECTED = {
    "string": "Input should be a valid string",
    "integer": "Input should be a valid integer",
    "number": "Input should be a valid number",
    "boolean": "Input should be a valid boolean",
    "array": "Input should be a valid list",
    "object": "Input should be a valid dictionary",
}


def as_object(value: object, path: Path) -> Json:
    """Return `value`, or refuse it if it is not an object."""
    if not isinstance(value, dict):
        raise make_invalid(_EXPECTED["object"], path)
    return read_mapping(cast("object", value))


def check_fields(value: Mapping[str, Any], fields: Fields, path: Path) -> None:
    """Refuse an object with a field that is missing, unknown or of another type."""
    problem = find_problem(value, fields, path)
    if problem is not None:
        raise make_invalid(_say(problem), problem.path)


def check_tagged(
    value: Mapping[str, Any], kinds: Mapping[str, Fields], path: Path, *, deeper: bool = True
) -> str:
    """Check an object whose `type` says which fields it has, and return that type.

    Args:
        value: The object.
        kinds: The fields of each type.
        path: Where the object is.
        deeper: Whether the type is part of the path of what is wrong inside.
    """
    kind = value.get("type")
    if "type" not in value:
        raise make_invalid("Field required", (*path, "type"))
    if not isinstance(kind, str) or kind not in kinds:
        names = ", ".join(f"'{name}'" for name in sorted(kinds))
        raise make_invalid(
            f"Input tag '{kind}' found using 'type' does not match any of the expected tags:"
            f" {names}",
            path,
        )
    fields = kinds[kind]
    inner = {name: value[name] for name in value if name != "type"}
    check_fields(inner, fields, (*path, kind) if deeper else path)
    return kind


def _say(problem: Problem) -> str:
    match problem.what:
        case "missing":
            return "Field required"
        case "unknown":
            return "Extra inputs are not permitted"
        case "type":
            return _EXPECTED.get(problem.expected.split("|")[0], "Input is of the wrong type")
