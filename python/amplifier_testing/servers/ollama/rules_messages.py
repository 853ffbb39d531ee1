"""Rules for messages: images, calls, and the results of calls."""

from __future__ import annotations

import base64
import binascii

from ..serving.reading import Json, read_items, read_mapping, read_objects, read_text
from .judged_request import CALL, CALL_FUNCTION, JudgedRequest
from .refusals import as_object, check_fields, make_refusal

_BEGINNINGS = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"RIFF", b"GIF8")


def check_some_message(asked: JudgedRequest) -> None:
    """There is a message: a request without one only loads the model."""
    if not asked.messages:
        raise make_refusal("messages is required: without a message the model is only loaded")


def check_images(asked: JudgedRequest) -> None:
    """Images are base64 without a media type, on messages to a model that sees them."""
    for message in asked.messages:
        for image in read_items(message.get("images")):
            if not isinstance(image, str):
                raise make_refusal("json: cannot unmarshal messages.images into []uint8")
            if "vision" not in asked.model.capabilities:
                raise make_refusal(f'"{asked.model.name}" does not support image input')
            try:
                data = base64.b64decode(image, validate=True)
            except (binascii.Error, ValueError):
                raise make_refusal("illegal base64 data at input byte 0") from None
            if not data.startswith(_BEGINNINGS):
                raise make_refusal("Failed to load image or audio file")


def check_calls(asked: JudgedRequest) -> None:
    """Calls are those of the assistant, and their arguments are objects, not text."""
    for message in asked.messages:
        calls = read_items(message.get("tool_calls"))
        if calls and message["role"] != "assistant":
            raise make_refusal(f"tool_calls in a message of `{message['role']}`")
        for value in calls:
            path = ("messages", "tool_calls")
            call = as_object(value, path)
            check_fields(call, CALL, path)
            check_fields(call["function"], CALL_FUNCTION, (*path, "function"))
            if not call["function"]["name"]:
                raise make_refusal("a call without the name of its function")


def check_results(asked: JudgedRequest) -> None:
    """Behind a message with calls come the results of all of them.

    A result belongs to the call of its `tool_call_id`, if the calls have ids; else to the first
    call of its `tool_name` that waits; and without either to the first call that waits.
    """
    waiting: list[tuple[str, str]] = []
    for message in [*asked.messages, {"role": ""}]:
        if message["role"] == "tool":
            if not waiting:
                raise make_refusal("a message of role tool that follows no call")
            waiting.remove(_call_of(message, waiting))
            continue
        if waiting:
            raise make_refusal(f"no result of the call of `{waiting[0][1]}`")
        waiting = _calls_in(message)


def _call_of(result: Json, waiting: list[tuple[str, str]]) -> tuple[str, str]:
    """Return the id and the name of the call that a result belongs to."""
    call_id, name = read_text(result.get("tool_call_id")), read_text(result.get("tool_name"))
    names = ", ".join(f"`{each}`" for _, each in waiting)
    if call_id and any(each for each, _ in waiting):
        found = [call for call in waiting if call[0] == call_id]
        if not found:
            raise make_refusal(
                f"a result with the id `{call_id}`, which no call has that waits: {names}"
            )
        if name not in ("", found[0][1]):
            raise make_refusal(f"the result of `{name}` has the id of a call of `{found[0][1]}`")
        return found[0]
    found = [call for call in waiting if name in ("", call[1])]
    if not found:
        raise make_refusal(f"the result of `{name}` where that of {names} is expected")
    return found[0]


def _calls_in(message: Json) -> list[tuple[str, str]]:
    calls = read_objects(message.get("tool_calls"))
    return [
        (read_text(call.get("id")), read_text(read_mapping(call.get("function")).get("name")))
        for call in calls
    ]


def check_content(asked: JudgedRequest) -> None:
    """No message is empty."""
    for message in asked.of_role("system", "user", "assistant"):
        if not any(message.get(key) for key in ("content", "images", "tool_calls", "thinking")):
            raise make_refusal(f"an empty message of `{message['role']}`")
