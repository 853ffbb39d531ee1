"""Encoding of single content blocks for the Anthropic API."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, cast

from pydantic import BaseModel

from ..block_text import block_text

JsonDict = dict[str, Any]

_IMAGE = frozenset({"image"})
OF_USER = _IMAGE | {"document", "search_result", "container_upload"}
"""Block types that a user turn may contain besides text and results."""
OF_ASSISTANT = frozenset(
    {
        "server_tool_use", "web_search_tool_result", "web_fetch_tool_result",
        "code_execution_tool_result", "bash_code_execution_tool_result",
        "text_editor_code_execution_tool_result", "tool_search_tool_result", "container_upload",
        "mcp_tool_use", "mcp_tool_result", "compaction", "advisor_tool_result", "fallback",
    }
)  # fmt: skip
"""Block types that an assistant turn may contain besides text, thinking and calls."""


def fields_of(value: Any) -> JsonDict:
    """Return the fields of a message, block or call, whether model, dataclass or mapping.

    Only the top level is unpacked: a long history is not copied through and through.
    """
    if isinstance(value, BaseModel):
        return dict(value)
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Any]", value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dict(vars(value))
    return {}


def blocks_of(content: Any) -> list[JsonDict]:
    """Return `content` as a list of block fields; plain text is one text block."""
    if content is None:
        return []
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, list | tuple):
        return [
            {"type": "text", "text": item} if isinstance(item, str) else fields_of(item)
            for item in cast("list[Any]", content)
        ]
    return [fields_of(content)]


def encode_text(block: JsonDict) -> JsonDict | None:
    """Encode a text block; None for blank text, which the API refuses."""
    text = block.get("text")
    if not isinstance(text, str) or not text.strip():
        return None
    wire: JsonDict = {"type": "text", "text": text}
    if block.get("citations"):
        wire["citations"] = block["citations"]
    return wire


def encode_thinking(block: JsonDict) -> JsonDict | None:
    """Encode a thinking block unchanged; None if it was never signed."""
    if not block.get("signature"):
        return None
    return {
        "type": "thinking",
        "thinking": block.get("thinking") or "",
        "signature": block["signature"],
    }


def encode_redacted_thinking(block: JsonDict) -> JsonDict | None:
    """Encode an encrypted thinking block unchanged."""
    data = block.get("data")
    return {"type": "redacted_thinking", "data": data} if data else None


def encode_other(block: JsonDict, known: frozenset[str], left_out: list[str]) -> JsonDict | None:
    """Encode a block that is neither text nor thinking nor a call.

    Args:
        block: An image, a block of a type that only the API itself knows, or one that is sent as
            text.
        known: The types that the API takes here.
        left_out: Gets the type of a block that cannot be sent.
    """
    kind = block.get("type")
    if kind == "reasoning":
        return None  # made by another provider
    if kind == "image" and kind in known:
        return {"type": "image", "source": block.get("source")}
    if kind in known:
        return {key: value for key, value in block.items() if key != "visibility"}
    text = block_text(block)
    if text is None:
        left_out.append(str(kind))
        return None
    return encode_text({"type": "text", "text": text})


def encode_result(wire_id: str, output: Any, is_error: bool) -> JsonDict:
    """Encode the result of one tool call.

    Args:
        wire_id: The id of the call on the wire.
        output: A text, a list of blocks, or any JSON value, which is written as text.
        is_error: Whether the tool failed.
    """
    wire: JsonDict = {"type": "tool_result", "tool_use_id": wire_id}
    content = _result_content(output)
    if content:
        wire["content"] = content
    if is_error:
        wire["is_error"] = True
    return wire


def _result_content(output: Any) -> str | list[JsonDict]:
    if output is None:
        return ""
    if isinstance(output, str):
        return output
    blocks = blocks_of(output) if isinstance(output, list) else []
    if blocks and all(_is_content(block) for block in blocks):
        encoded = [
            encode_text(each) if each["type"] == "text" else encode_other(each, _IMAGE, [])
            for each in blocks
        ]
        return [block for block in encoded if block is not None]
    if isinstance(output, BaseModel):
        output = output.model_dump(mode="json")
    try:
        return json.dumps(output, ensure_ascii=False, default=str)
    except RecursionError:
        raise ValueError(
            "the output of a tool is nested too deeply to be written as JSON"
        ) from None


def _is_content(block: JsonDict) -> bool:
    return block.get("type") in {"text", "image"} or block_text(block) is not None


def arguments_of(call: JsonDict) -> JsonDict:
    """Return the arguments of a tool call under any of the names in use; {} for a bad value."""
    value = call.get("input", call.get("arguments"))
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {}
    return dict(cast("JsonDict", value)) if isinstance(value, Mapping) else {}
