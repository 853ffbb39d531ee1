"""The text, the tool calls and the stored message of a model's response."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast
from uuid import uuid4

from pydantic import BaseModel

from amplifier_core.message_models import TextBlock, ToolCall

BLOCKS_EMITTED = "content_blocks_emitted"
"""Key in the metadata of a response whose provider emitted the block events itself."""


@dataclass(slots=True)
class RequestedCall:
    """A tool call as the model asked for it."""

    id: str
    name: str
    arguments: dict[str, Any] | None
    """None if they cannot be used."""
    problem: str | None = None
    """Why the arguments cannot be used."""


def block_dict(block: Any) -> dict[str, Any]:
    """Return a block as plain data, without empty declared fields."""
    if type(block) is TextBlock and not block.model_extra and block.visibility is None:
        return {"type": block.type, "text": block.text}
    if isinstance(block, BaseModel):
        declared = type(block).model_fields
        return {
            key: value
            for key, value in block.model_dump().items()
            if value is not None or key not in declared
        }
    if isinstance(block, Mapping):
        return dict(cast("Mapping[str, Any]", block))
    return block.to_dict()


def text_of(response: Any) -> str:
    """Return the answer: the text blocks alone, never thinking.

    Citations split one text into several blocks, so neighbouring text blocks are joined directly,
    and others by an empty line.
    """
    content = response.content
    if isinstance(content, str):
        return content
    paragraphs: list[str] = []
    is_continued = False
    for block in content or ():
        if type(block) is TextBlock:
            kind, text = block.type, block.text
        else:
            kind, text = _field(block, "type"), _field(block, "text")
        if kind == "text" and isinstance(text, str):
            if is_continued:
                paragraphs[-1] += text
            else:
                paragraphs.append(text)
        is_continued = kind == "text"
    return "\n\n".join(text for text in paragraphs if text)


def calls_of(provider: Any, response: Any) -> list[RequestedCall]:
    """Return the tool calls of a response, from its field or else from its provider."""
    calls: Any = getattr(response, "tool_calls", None)
    if not calls and (parse := getattr(provider, "parse_tool_calls", None)) is not None:
        calls = parse(response)
    if not calls or not isinstance(calls, (list, tuple)):
        return []
    return [_requested(call) for call in cast("Iterable[Any]", calls)]


def assistant_message(response: Any, calls: list[RequestedCall]) -> dict[str, Any] | None:
    """Return the message that stores a response with these calls, None if it is empty."""
    blocks: list[dict[str, Any]] = []
    stored: list[dict[str, Any]] = []
    kept = {call.id for call in calls}
    present: set[Any] = set()
    for block in _blocks(response.content):
        if block.get("type") == "tool_call":
            if block.get("id") not in kept:
                continue
            present.add(block.get("id"))
        blocks.append(block)
    for call in calls:
        arguments = call.arguments or {}
        if call.id not in present:
            blocks.append(
                {"type": "tool_call", "id": call.id, "name": call.name, "input": arguments}
            )
        stored.append({"id": call.id, "tool": call.name, "arguments": arguments})
    if not blocks:
        return None
    message: dict[str, Any] = {"role": "assistant", "content": blocks}
    if stored:
        message["tool_calls"] = stored
    metadata = getattr(response, "metadata", None)
    if metadata and isinstance(metadata, dict):
        remembered = {
            key: value
            for key, value in cast("dict[str, Any]", metadata).items()
            if key != BLOCKS_EMITTED
        }
        if remembered:
            message["metadata"] = remembered
    return message


def _blocks(content: Any) -> list[dict[str, Any]]:
    """Return content as blocks of plain data."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return [block_dict(block) for block in content] if content else []


def _requested(call: Any) -> RequestedCall:
    if type(call) is ToolCall and not call.__pydantic_extra__:
        id, name, arguments = call.id, call.name, call.arguments
        is_whole = type(id) is str and type(name) is str and type(arguments) is dict
        if is_whole and id and name:
            return RequestedCall(id, name, arguments.copy())
    name = _field(call, "name") or _field(call, "tool") or ""
    arguments = _field(call, "arguments")
    if arguments is None:
        arguments = _field(call, "input")
    problem = _field(call, "error")
    if not isinstance(arguments, dict):
        problem = problem or f"they are of type `{type(arguments).__name__}`, not an object"
    return RequestedCall(
        id=str(_field(call, "id") or f"call_{uuid4().hex}"),
        name=str(name),
        arguments=None if problem else dict(cast("dict[str, Any]", arguments)),
        problem=str(problem) if problem else None,
    )


def _field(item: Any, key: str) -> Any:
    """Return a field of a block or call, which may be a model, a dataclass or a dict."""
    if isinstance(item, Mapping):
        return cast("Mapping[str, Any]", item).get(key)
    value = getattr(item, key, None)
    return getattr(value, "value", value) if key == "type" else value
