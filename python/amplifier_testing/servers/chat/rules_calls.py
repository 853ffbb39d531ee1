"""Rules for tool calls, their results, and the reasoning before them."""

from __future__ import annotations

import json

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
from ..serving.reading import Json, read_mapping, read_objects, read_text
from .judged_request import CALL_FUNCTION, CUSTOM_CALL, TOOL_CALL, JudgedRequest, calls_of

_REFUSED = (
    "The reasoning_content is an intermediate result for display purposes only and will not be"
    " included in the context for inference. Please remove the reasoning_content from your message"
    " to reduce network traffic."
)
_MUST_COME_BACK = "The `reasoning_content` in the thinking mode must be passed back to the API."


def check_calls(asked: JudgedRequest) -> None:
    """Each call has an id, a name, and arguments that are JSON in a string."""
    for path, message in asked.of_role("assistant"):
        here = (*path, "tool_calls")
        if message.get("tool_calls") == []:
            raise make_invalid(
                f"Invalid '{write_place(here)}': empty array. Expected an array with minimum length 1,"
                " but got an empty array instead.",
                here,
                "empty_array",
            )
        for index, value in enumerate(message.get("tool_calls") or []):
            _check_call(asked, as_object(value, (*here, index)), (*here, index))


def _check_call(asked: JudgedRequest, call: Json, path: Path) -> None:
    if call.get("type") == "custom":
        check_fields(call, CUSTOM_CALL, path)
    else:
        check_fields(call, TOOL_CALL, path)
        check_value(call["type"], ("function", "custom"), (*path, "type"))
        inside = (*path, "function")
        check_fields(call["function"], CALL_FUNCTION, inside)
        check_name(call["function"]["name"], (*inside, "name"))
        _check_arguments(call["function"]["arguments"], (*inside, "arguments"))
    _check_id(asked, call["id"], (*path, "id"))


def _check_id(asked: JudgedRequest, name: str, path: Path) -> None:
    preset = asked.preset
    if not name:
        raise make_invalid(
            f"Invalid '{write_place(path)}': empty string. Expected a string with minimum length 1, but"
            " got an empty string instead.",
            path,
            "empty_string",
        )
    if preset.max_call_id is not None:
        check_length(name, preset.max_call_id, path)
    if preset.call_id is not None and not preset.call_id.fullmatch(name):
        raise make_invalid(
            f"Tool call id was {name} but must be a-z, A-Z, 0-9, with a length of 9.", None, "3280"
        )


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


def check_results(asked: JudgedRequest) -> None:
    """Behind a message with calls come the results of all of them, one each, and no others."""
    called: list[str] = []
    waiting: list[str] = []
    known: set[str] = set()
    for index, message in enumerate([*asked.messages, {"role": ""}]):
        if message["role"] == "tool":
            name = message["tool_call_id"]
            if not called:
                raise make_invalid(
                    "Invalid parameter: messages with role 'tool' must be a response to a"
                    " preceeding message with 'tool_calls'.",
                    f"messages.[{index}].role",
                )
            if name not in called:
                raise make_invalid(
                    f"Invalid parameter: 'tool_call_id' of '{name}' not found in 'tool_calls' of"
                    " previous message.",
                    f"messages.[{index}].tool_call_id",
                )
            if name not in waiting:
                raise make_invalid(
                    f"Invalid parameter: Duplicate value for 'tool_call_id' of '{name}'.",
                    f"messages.[{index}].tool_call_id",
                )
            waiting.remove(name)
            continue
        if waiting:
            raise make_invalid(
                "An assistant message with 'tool_calls' must be followed by tool messages"
                " responding to each 'tool_call_id'. The following tool_call_ids did not have"
                f" response messages: {', '.join(waiting)}",
                f"messages.[{index}].role",
            )
        called = [read_text(call["id"]) for call in calls_of(message)]
        for name in called:
            if name in known or called.count(name) > 1:
                raise make_invalid(
                    f"Invalid parameter: Duplicate value for 'id' of '{name}' in 'tool_calls'.",
                    f"messages.[{index}].tool_calls",
                )
        known.update(called)
        waiting = [*called]


def check_reasoning(asked: JudgedRequest) -> None:
    """Reasoning comes back, or does not, as the vendor wants it."""
    for path, message in asked.of_role("assistant"):
        match asked.preset.reasoning:
            case "refused":
                if message.get("reasoning_content") is not None:
                    raise make_invalid(_REFUSED, None, "invalid_request_error")
            case "required":
                if path[1] > asked.loop_start:  # pyright: ignore[reportOperatorIssue]
                    _check_reasoning_content(asked, message)
            case "signed":
                _check_details(asked, message, path)
            case "free":
                pass


def _check_reasoning_content(asked: JudgedRequest, message: Json) -> None:
    calls = calls_of(message)
    if not calls:
        return
    kind = read_mapping(asked.body.get("thinking")).get("type")
    if kind == "disabled":
        return
    given = message.get("reasoning_content")
    names = [read_text(call["id"]) for call in calls]
    sent = [asked.reasoned[name] for name in names if name in asked.reasoned]
    named = read_text(asked.body["model"])
    thinks = kind == "enabled" or "reasoner" in named or "-v4" in named
    if (sent[0] != (given or "")) if sent else (thinks and given is None):
        raise make_invalid(_MUST_COME_BACK, None, "invalid_request_error")


def _check_details(asked: JudgedRequest, message: Json, path: Path) -> None:
    for index, detail in enumerate(read_objects(message.get("reasoning_details"))):
        if detail.get("type") != "reasoning.text" or asked.issued is None:
            continue
        if not asked.issued.is_signed(
            read_text(detail.get("text")), read_text(detail.get("signature"))
        ):
            raise make_invalid(
                "Invalid `signature` in `thinking` block",
                write_place((*path, "reasoning_details", index)),
            )
