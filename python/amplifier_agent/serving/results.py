"""Results of calls in the form of the protocol."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from mcp.types import (
    CallToolResult,
    ContentBlock,
    ImageContent,
    TextContent,
    Tool,
    ToolAnnotations,
)

from amplifier_modules.loops.tool_call import CallRun

_EMPTY_SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}


def describe_tool(name: str, tool: Any) -> Tool:
    """Return what a client reads about a tool."""
    schema = getattr(tool, "input_schema", None) or getattr(tool, "parameters", None)
    is_reading = getattr(tool, "read_only", False) is True
    is_idempotent = getattr(tool, "idempotent", False) is True
    return Tool(
        name=name,
        description=str(getattr(tool, "description", "") or ""),
        input_schema=dict(schema) if isinstance(schema, Mapping) else _EMPTY_SCHEMA,  # pyright: ignore[reportUnknownArgumentType] -- JSON
        annotations=ToolAnnotations(
            read_only_hint=True if is_reading else None,
            idempotent_hint=True if is_idempotent else None,
        )
        if is_reading or is_idempotent
        else None,
    )


def make_result(run: CallRun) -> CallToolResult:
    """Return the result of a call as hooks have left it: texts, images, and data beside its text."""
    return CallToolResult(
        content=list(map(_make_content, _list_blocks(run.answer.content))),
        structured_content=_find_data(run),
        is_error=run.answer.is_error,
    )


def read_data(text: str) -> dict[str, Any] | None:
    """Return the JSON object that a text is; None if it is something else."""
    try:
        data: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", data) if isinstance(data, dict) else None


def _find_data(run: CallRun) -> dict[str, Any] | None:
    """Return what a tool returned as an object: what its text says, which has its limit."""
    output: object = getattr(run.returned, "output", run.returned)
    if not isinstance(output, dict) or run.answer.is_error:
        return None
    return read_data(run.answer.text)


def _list_blocks(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _make_content(block: dict[str, Any]) -> ContentBlock:
    source: Any = block.get("source")
    if block.get("type") == "image" and isinstance(source, dict):
        data, media_type = (cast("dict[str, Any]", source).get(k) for k in ("data", "media_type"))
        if isinstance(data, str) and isinstance(media_type, str):
            return ImageContent(type="image", data=data, mime_type=media_type)
    text = block.get("text")
    if not isinstance(text, str):
        text = json.dumps(block, default=str)
    return TextContent(type="text", text=text)
