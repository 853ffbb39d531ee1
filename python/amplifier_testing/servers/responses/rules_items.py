"""Rules for the items of the input."""

from __future__ import annotations

import json

from ..openai.images import check_detail, check_image_url
from ..openai.refusals import (
    as_object,
    check_fields,
    check_length,
    check_value,
    make_invalid,
    write_place,
)
from ..openai.schemas import check_name
from ..serving.fields import Path
from ..serving.reading import Json, read_text
from .judged_request import JudgedRequest
from .shapes import INPUT_PARTS, ITEMS, OUTPUT_PARTS, PREFIXES

MAX_ID = 64
_ROLES = ("user", "assistant", "system", "developer")
_PHASES = ("commentary", "final_answer")
_STATUSES = ("in_progress", "completed", "incomplete")
_CALLS = ("function_call", "custom_tool_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output")


def check_shapes(asked: JudgedRequest) -> None:
    """Each item is of a known type and has the fields of it."""
    for index, item in enumerate(asked.input):
        path: Path = ("input", index)
        check_value(item["type"], ITEMS, (*path, "type") if "type" in item else path)
        inner = {name: item[name] for name in item if name != "type"}
        check_fields(inner, ITEMS[item["type"]], path)
        if item.get("status") is not None and item["type"] in {"message", *_CALLS, *_OUTPUTS}:
            check_value(item["status"], _STATUSES, (*path, "status"))


def check_ids(asked: JudgedRequest) -> None:
    """Ids begin as those of their type and are short; no two items have one."""
    seen: set[str] = set()
    for index, item in enumerate(asked.input):
        name, path = read_text(item.get("id")), ("input", index, "id")
        check_length(name, MAX_ID, path)
        prefix = PREFIXES.get(item["type"])
        if name and prefix and not name.startswith(prefix):
            raise make_invalid(
                f"Invalid '{write_place(path)}': '{name}'. Expected an ID that begins with '{prefix}'.",
                path,
                "invalid_value",
            )
        if name and name in seen:
            raise make_invalid(
                f"Duplicate item found with id {name}. Remove duplicate items from your input and"
                " try again.",
                "input",
            )
        seen.add(name)


def check_messages(asked: JudgedRequest) -> None:
    """A message has a role, and the content of that role."""
    for path, item in asked.of_kind("message"):
        check_value(item["role"], _ROLES, (*path, "role"))
        if item.get("phase") is not None:
            if item["role"] != "assistant":
                raise make_invalid(
                    f"Unknown parameter: '{write_place((*path, 'phase'))}'.",
                    (*path, "phase"),
                    "unknown_parameter",
                )
            check_value(item["phase"], _PHASES, (*path, "phase"))
        parts = OUTPUT_PARTS if item["role"] == "assistant" else INPUT_PARTS
        if isinstance(item["content"], list):
            _check_parts(asked, item, parts, (*path, "content"))


def _check_parts(asked: JudgedRequest, item: Json, parts: object, path: Path) -> None:
    kinds = OUTPUT_PARTS if parts is OUTPUT_PARTS else INPUT_PARTS
    field = "content" if "content" in item else "output"
    for index, value in enumerate(item[field]):
        here = (*path, index)
        part = as_object(value, here)
        check_value(part.get("type"), kinds, (*here, "type") if "type" in part else here)
        inner = {name: part[name] for name in part if name != "type"}
        check_fields(inner, kinds[part["type"]], here)
        if part["type"] == "input_image":
            _check_image(asked, part, here)
        elif part["type"] == "input_file":
            _check_file(part, here)


def _check_image(asked: JudgedRequest, part: Json, path: Path) -> None:
    if not asked.model.vision:
        raise make_invalid(
            "Invalid content type. image_url is only supported by certain models.", path
        )
    check_detail(part.get("detail"), (*path, "detail"))
    if part.get("image_url") is not None:
        check_image_url(part["image_url"], (*path, "image_url"))
    elif not part.get("file_id"):
        raise make_invalid(
            f"Missing required parameter: '{write_place((*path, 'image_url'))}'.",
            (*path, "image_url"),
            "missing_required_parameter",
        )


def _check_file(part: Json, path: Path) -> None:
    given = [name for name in ("file_data", "file_id", "file_url") if part.get(name)]
    if len(given) != 1:
        raise make_invalid(
            f"Invalid '{write_place(path)}': expected exactly one of 'file_data', 'file_id' and"
            " 'file_url'.",
            path,
            "invalid_value",
        )
    if given == ["file_data"]:
        if not part.get("filename"):
            raise make_invalid(
                f"Missing required parameter: '{write_place((*path, 'filename'))}'.",
                (*path, "filename"),
                "missing_required_parameter",
            )
        if not part["file_data"].startswith("data:"):
            raise make_invalid(
                f"Invalid '{write_place((*path, 'file_data'))}'. Expected a base64-encoded data URL.",
                (*path, "file_data"),
                "invalid_value",
            )


def check_calls(asked: JudgedRequest) -> None:
    """A call has a name and an id, and its arguments are JSON in a string."""
    for path, item in asked.of_kind(*_CALLS, *_OUTPUTS):
        here = (*path, "call_id")
        if not item["call_id"]:
            raise make_invalid(
                f"Invalid '{write_place(here)}': empty string. Expected a string with minimum length 1,"
                " but got an empty string instead.",
                here,
                "empty_string",
            )
        check_length(item["call_id"], MAX_ID, here)
        if item["type"] in _CALLS:
            check_name(item["name"], (*path, "name"))
        if item["type"] == "function_call":
            _check_arguments(item["arguments"], (*path, "arguments"))
        elif item["type"] in _OUTPUTS and isinstance(item["output"], list):
            _check_parts(asked, item, INPUT_PARTS, (*path, "output"))


def _check_arguments(arguments: str, path: Path) -> None:
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise make_invalid(
            f"Invalid '{write_place(path)}': expected a JSON object in a string.",
            path,
            "invalid_value",
        )


def check_outputs(asked: JudgedRequest) -> None:
    """Each call has one output behind it, and each output a call before it."""
    waiting: dict[str, str] = {}
    known: set[str] = set()
    for item in [*asked.before, *asked.input]:
        name = read_text(item.get("call_id"))
        if item["type"] in _CALLS:
            if name in known:
                raise make_invalid(f"Duplicate function call found with call_id {name}.", "input")
            known.add(name)
            waiting[name] = item["type"]
        elif item["type"] in _OUTPUTS:
            if name not in known:
                raise make_invalid(
                    f"No tool call found for function call output with call_id {name}.", "input"
                )
            if name not in waiting:
                raise make_invalid(f"Duplicate tool output found for call_id {name}.", "input")
            del waiting[name]
    for name in waiting:
        raise make_invalid(f"No tool output found for function call {name}.", "input")
