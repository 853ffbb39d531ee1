"""Calls of tools that a request does not declare: made through one tool that it declares.

A model calls `call_tool {"name": "weather__today", "arguments": {"city": "Oslo"}}`. Only requests and
what a service sends have this form; everywhere else it is the call of `weather__today`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeVar, cast

from amplifier_core.content_models import ToolCallContent
from amplifier_core.message_models import ChatResponse, Message, ToolCall, ToolCallBlock

from .block_record import block_record

WRAPPER: ContextVar[str | None] = ContextVar("wrapping_tool", default=None)
"""The tool through which others are called in the model call that runs here; None for none."""
CALLED_AS = "called_as"
"""The key of a call that was made through another tool: the name of that one."""

CallT = TypeVar("CallT", ToolCall, ToolCallBlock)

_TEXT = r'"(?:[^"\\]|\\.)*"'
WRITTEN_NAME = re.compile(rf'\s*\{{\s*"name"\s*:\s*({_TEXT})')
"""How the arguments of the wrapping tool begin."""


class InnerCall(NamedTuple):
    """A call as it was meant."""

    name: str
    arguments: dict[str, Any]
    problem: str | None
    """Why the arguments cannot be used."""


def make_arguments(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with which the wrapping tool calls another."""
    return {"name": name, "arguments": dict(arguments)}


def find_inner_call(given: Mapping[str, Any], wrapper: str, raw: object = None) -> InnerCall | None:
    """Return the call that arguments of the wrapping tool are; None where they name no tool.

    Args:
        given: The arguments, as far as they could be read.
        wrapper: The wrapping tool, which cannot call itself.
        raw: The arguments as they came, where they could not be read.
    """
    name = given.get("name")
    if name is None and isinstance(raw, str) and (match := WRITTEN_NAME.match(raw)) is not None:
        name = read_json(match[1])
    if not isinstance(name, str) or not name or name == wrapper:
        return None
    inner = given.get("arguments")
    if inner is None:
        # Some models write the arguments beside the name.
        inner = {key: value for key, value in given.items() if key not in {"name", "arguments"}}
    elif isinstance(inner, str):
        inner = read_json(inner)
    if not isinstance(inner, dict):
        problem = f"`arguments` is of type `{type(inner).__name__}` (must be an object)"
        return InnerCall(name, {}, problem)
    return InnerCall(name, cast("dict[str, Any]", inner), None)


def unwrap_call(call: CallT, wrapper: str) -> CallT:
    """Return a call, or the one that it makes through the wrapping tool."""
    if call.name != wrapper:
        return call
    more = call.model_extra or {}
    given = call.arguments if isinstance(call, ToolCall) else call.input
    inner = find_inner_call(given, wrapper, more.get("raw_arguments"))
    if inner is None:
        return call
    if inner.problem is not None and "error" not in more:
        more = {**more, "error": inner.problem}
    key = "arguments" if isinstance(call, ToolCall) else "input"
    fields = {"id": call.id, "name": inner.name, key: inner.arguments}
    return type(call).model_validate({**more, **fields, CALLED_AS: wrapper})


def unwrap_response(response: Any, wrapper: str) -> Any:
    """Return a response with the calls that were meant; one of another type is left alone."""
    if not isinstance(response, ChatResponse):
        return response
    content = [
        unwrap_call(block, wrapper) if isinstance(block, ToolCallBlock) else block
        for block in response.content
    ]
    calls = [unwrap_call(call, wrapper) for call in response.tool_calls or ()]
    update: dict[str, Any] = {"content": content}
    if calls:
        update["tool_calls"] = calls
    if isinstance(shown := getattr(response, "content_blocks", None), list):
        blocks = cast("list[Any]", shown)
        update["content_blocks"] = [_unwrap_shown(block, wrapper) for block in blocks]
    return response.model_copy(update=update)


def unwrap_record(block: Mapping[str, Any], wrapper: str) -> dict[str, Any]:
    """Return the block of an event with the call that was meant."""
    given: Any = block.get("arguments") or block.get("input") or {}
    inner = None
    if block.get("name") == wrapper and isinstance(given, Mapping):
        arguments = cast("Mapping[str, Any]", given)
        inner = find_inner_call(arguments, wrapper, block.get("raw_arguments"))
    if inner is None:
        return dict(block)
    found = {**block, "name": inner.name, "arguments": inner.arguments, "input": inner.arguments}
    if inner.problem is not None and not found.get("error"):
        found["error"] = inner.problem
    return block_record(found)


def _unwrap_shown(block: Any, wrapper: str) -> Any:
    if not isinstance(block, ToolCallContent) or block.name != wrapper:
        return block
    inner = find_inner_call(block.arguments or {}, wrapper)
    if inner is None:
        return block
    raw = block.raw
    return ToolCallContent(id=block.id, name=inner.name, arguments=inner.arguments, raw=raw)


def find_wrappers(message: Message) -> dict[str, str]:
    """Return the tools through which calls of a message were made, by the ids of these."""
    wrappers: dict[str, str] = {}
    for block in message.content if isinstance(message.content, list) else ():
        if isinstance(block, ToolCallBlock):
            wrapper = (block.model_extra or {}).get(CALLED_AS)
            if isinstance(wrapper, str):
                wrappers[block.id] = wrapper
    return wrappers


def wrap_message(message: Message, wrappers: Mapping[str, str]) -> Message:
    """Return a message as its model wrote it: with the calls of the wrapping tools."""
    content: list[Any] = []
    for block in message.content:
        if isinstance(block, ToolCallBlock) and (wrapper := wrappers.get(block.id)) is not None:
            more = {k: v for k, v in (block.model_extra or {}).items() if k != CALLED_AS}
            given = make_arguments(block.name, block.input)
            content.append(ToolCallBlock(id=block.id, name=wrapper, input=given, **more))
        else:
            content.append(block)
    update: dict[str, Any] = {"content": content}
    if isinstance(listed := (message.model_extra or {}).get("tool_calls"), list):
        calls = cast("list[Any]", listed)
        update["tool_calls"] = [_wrap_listed(call, wrappers) for call in calls]
    return message.model_copy(update=update)


def _wrap_listed(call: Any, wrappers: Mapping[str, str]) -> Any:
    if not isinstance(call, dict):
        return call
    fields = cast("dict[str, Any]", call)
    wrapper = wrappers.get(fields.get("id", ""))
    if wrapper is None:
        return fields
    name = fields.get("tool") or fields.get("name") or ""
    return {**fields, "tool": wrapper, "arguments": make_arguments(name, fields["arguments"])}


def read_json(text: str) -> Any:
    """Return what a JSON text says; None where it cannot be read."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
