"""Messages in the form of OpenAI's Chat Completions, and messages that no model can be sent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast, get_args

from amplifier_core.message_models import Role

_ROLES: tuple[str, ...] = get_args(Role)
_TEXTS = frozenset(("input_text", "output_text"))
_IMAGES = frozenset(("image_url", "input_image"))
_FOREIGN_BLOCKS = _TEXTS | _IMAGES
_NO_FIELDS: Mapping[str, Any] = {}


class InvalidMessageError(ValueError):
    """A message of a conversation cannot be sent to a model."""

    def __init__(self, position: int, role: object, problem: str) -> None:
        """Name the message.

        Args:
            position: Its place in the conversation, from 0.
            role: Its role.
            problem: What is wrong with it.
        """
        super().__init__(f"message {position} (`{role}`): {problem}")
        self.position = position
        """Its place in the conversation, from 0."""
        self.role = role
        """Its role."""


def native_messages(messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return a conversation in the kernel's form.

    Raises:
        InvalidMessageError: A message has neither this form nor that of OpenAI.
    """
    found: list[Mapping[str, Any]] = []
    for position, message in enumerate(messages):
        role: object = message.get("role")
        if role not in _ROLES:
            known = ", ".join(f"`{each}`" for each in _ROLES)
            raise InvalidMessageError(position, role, f"no such role (must be one of {known})")
        content: object = message.get("content", "")
        if content is not None and not isinstance(content, str | list | tuple):
            wrong = f"`content` is a `{type(content).__name__}` (must be text or a list of blocks)"
            raise InvalidMessageError(position, role, wrong)
        calls: object = message.get("tool_calls")
        if calls is not None and not isinstance(calls, list | tuple):
            wrong = f"`tool_calls` is a `{type(calls).__name__}` (must be a list)"
            raise InvalidMessageError(position, role, wrong)
        found.append(make_native(messages, position) if is_foreign(message) else message)
    return found


def is_foreign(message: Mapping[str, Any]) -> bool:
    """Whether a message, or a part of it, has the form of OpenAI."""
    if message.get("role") == "function" and message.get("tool_call_id") is None:
        return True
    if message.get("function_call"):
        return True
    calls, content = message.get("tool_calls"), message.get("content")
    if not calls and isinstance(content, str):
        return False
    if isinstance(calls, list):
        for call in cast("list[dict[str, Any]]", calls):
            if "function" in (call if type(call) is dict else _read_fields(call)):
                return True
    if isinstance(content, list):
        for block in cast("list[dict[str, Any]]", content):
            kind: Any = (block if type(block) is dict else _read_fields(block)).get("type")
            if kind in _FOREIGN_BLOCKS:
                return True
    return False


def make_native(messages: Sequence[Mapping[str, Any]], position: int) -> dict[str, Any]:
    """Return a message in the kernel's form.

    Args:
        messages: The conversation.
        position: The place of the message.

    Raises:
        InvalidMessageError: It has no such form.
    """
    message = dict(messages[position])
    role = message.get("role")
    try:
        if isinstance(content := message.get("content"), list):
            message["content"] = [_block(each) for each in cast("list[Any]", content)]
        given = message.get("tool_calls")
        calls = [*cast("list[Any]", given)] if isinstance(given, list | tuple) else []
        if asked := message.pop("function_call", None):
            calls.append({"id": _call_id(position), "function": asked})
        if calls:
            message["tool_calls"] = [_call(each) for each in calls]
        if role == "function" and message.get("tool_call_id") is None:
            asking = _find_asking(messages[:position], message.get("name"))
            message |= {"role": "tool", "tool_call_id": _call_id(asking)}
    except _ProblemError as problem:
        raise InvalidMessageError(position, role, str(problem)) from None
    return message


class _ProblemError(Exception):
    """What is wrong with the message that is being read."""


def _find_asking(before: Sequence[Mapping[str, Any]], name: object) -> int:
    """Return the place of the message with the call that a message of the role `function` answers."""
    for position in range(len(before) - 1, -1, -1):
        asked = _read_fields(before[position].get("function_call"))
        if asked and asked.get("name") == name:
            return position
    raise _ProblemError(f"it answers no call of `{name}` before it")


def _call_id(position: int) -> str:
    """Return the id of the call of a message that gives it none."""
    return f"call_{position}"


def _call(call: Any) -> Any:
    function = _read_fields(call).get("function")
    if function is None:
        return call
    name, arguments = _read_fields(function).get("name"), _read_fields(function).get("arguments")
    call_id = call.get("id")
    if not isinstance(call_id, str) or not isinstance(name, str):
        raise _ProblemError("a call has no `id` or no name of a function, each a text")
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except (ValueError, RecursionError) as error:
            raise _ProblemError(f"the arguments of call `{call_id}` are no JSON: {error}") from None
    if not isinstance(arguments, Mapping | None):
        found = type(arguments).__name__
        raise _ProblemError(
            f"the arguments of call `{call_id}` are a `{found}` (must be an object)"
        )
    return {"id": call_id, "tool": name, "arguments": dict(cast("Any", arguments or {}))}


def _block(block: Any) -> Any:
    fields = _read_fields(block)
    if fields.get("type") in _TEXTS:
        return {"type": "text", "text": fields.get("text", "")}
    if fields.get("type") not in _IMAGES:
        return block
    given = fields.get("image_url")
    url = given if isinstance(given, str) else _read_fields(given).get("url")
    if not isinstance(url, str):
        raise _ProblemError(f"a block of type `{fields['type']}` has no `url`")
    head, comma, data = url.partition(",")
    if not head.startswith("data:"):
        return {"type": "image", "source": {"type": "url", "url": url}}
    media_type, _, coding = head.removeprefix("data:").partition(";")
    if not comma or coding != "base64":
        raise _ProblemError("the data URL of an image is not in base64")
    source = {"type": "base64", "media_type": media_type, "data": data}
    return {"type": "image", "source": source}


def _read_fields(value: object) -> Mapping[str, Any]:
    # Of dicts first: the question about a mapping takes ten times as long.
    if isinstance(value, dict) or isinstance(value, Mapping):  # noqa: SIM101
        return cast("Mapping[str, Any]", value)
    return _NO_FIELDS
