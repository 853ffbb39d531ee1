"""Messages and tools of this package from and to those of the kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from pydantic import ValidationError

from amplifier_core import message_models as kernel

from ..exceptions import ArcLLMConfigError
from ..types import ContentBlock, Message, TextBlock, Tool, ToolResultBlock
from .blocks import JsonDict, dump_block, kernel_block, kernel_output
from .entries import needed_entries, split_blocks, weave_blocks

_ROLES = {"developer": "system", "function": "tool"}
"""The roles of the kernel that this package has another name for."""


def kernel_messages(message: Message) -> list[kernel.Message]:
    """Return a message as the kernel has it.

    The results of a message of role `tool` become one message each, and what else is in it follows
    as a message of the user.

    Raises:
        ArcLLMConfigError: It says nothing that can be sent: a result without a call, an image without
            a source, opaque data that is none.
    """
    try:
        return list(_kernel_messages(message))
    except (ValidationError, KeyError, TypeError, AttributeError) as error:
        raise ArcLLMConfigError(
            "its `opaque` is not what a model wrote (must be that of `response.message`, or None)"
        ) from error


def _kernel_messages(message: Message) -> Iterator[kernel.Message]:
    if message.role == "tool":
        yield from _make_results(message)
        return
    entries = message.opaque or []
    content: Any = message.content
    if not isinstance(content, str) or any(entry["type"] != "origin" for entry in entries):
        content = [
            kernel_block(*each) if isinstance(each, tuple) else each
            for each in weave_blocks(_list_blocks(message.content), entries)
        ]
    yield kernel.Message.model_validate({**_find_origin(message), "content": content})


def _make_results(message: Message) -> Iterator[kernel.Message]:
    entries = message.opaque or []
    origin = _find_origin(message)
    others: list[kernel.ContentBlockUnion] = []
    has_result = False
    for each in weave_blocks(_list_blocks(message.content), entries):
        block, more = each if isinstance(each, tuple) else (None, each)
        if isinstance(block, ToolResultBlock):
            has_result = True
            output = more["output"] if "output" in more else kernel_output(block.content)
            result = {"tool_call_id": block.tool_use_id, "content": output}
            yield kernel.Message.model_validate({**origin, **result})
        elif block is not None:
            others.append(kernel_block(block, more))
    if not has_result:
        raise ArcLLMConfigError(
            "role `tool` without a `tool_result` block, so that nobody knows which call it answers"
            " (must be `[ToolResultBlock(tool_use_id=call.id, content=...)]`)"
        )
    if others:
        yield kernel.Message(role="user", content=others)


def _list_blocks(content: str | list[ContentBlock]) -> list[ContentBlock]:
    if isinstance(content, list):
        return content
    return [TextBlock(text=content)] if content else []


def _find_origin(message: Message) -> JsonDict:
    """Return who wrote a message: its role as the kernel has it, and what else its origin says."""
    entries = message.opaque or []
    found = next((entry for entry in entries if entry["type"] == "origin"), JsonDict())
    origin = {key: value for key, value in found.items() if key != "type"}
    # No message gets the role of another one from data that nobody reads.
    if _ROLES.get(origin.get("role", "")) != message.role:
        origin["role"] = message.role
    return origin


def readable_message(message: kernel.Message) -> Message:
    """Return a message of the kernel as one of this package.

    What has no place in it is in its `opaque`, and comes back from there.
    """
    role = cast("Any", _ROLES.get(message.role, message.role))
    origin: JsonDict = {"type": "origin"}
    if role != message.role:
        origin["role"] = message.role
    others = message.model_dump(mode="json", fallback=str, exclude={"role", "content"})
    origin |= {key: value for key, value in others.items() if value is not None}
    content: Any = message.content
    if role == "tool" and message.tool_call_id is not None:
        del origin["tool_call_id"]
        output = content if isinstance(content, str) else [dump_block(block) for block in content]
        content = [{"type": "tool_result", "tool_call_id": message.tool_call_id, "output": output}]
    elif isinstance(content, str):
        return Message(role=role, content=content, opaque=needed_entries([origin]))
    else:
        content = [dump_block(block) for block in content]
    blocks, entries = split_blocks(content)
    return Message(role=role, content=blocks, opaque=needed_entries([origin, *entries]))


def kernel_tools(tools: Sequence[Tool] | None) -> list[kernel.ToolSpec] | None:
    """Return tools as the kernel has them."""
    if tools is None:
        return None
    return [
        kernel.ToolSpec(name=tool.name, parameters=tool.parameters, description=tool.description)
        for tool in tools
    ]
