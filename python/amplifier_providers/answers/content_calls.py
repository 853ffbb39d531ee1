"""The tool calls of a response, whichever of its fields has them."""

from __future__ import annotations

from amplifier_core.message_models import ChatResponse, ToolCall, ToolCallBlock


def tool_calls_of(response: ChatResponse) -> list[ToolCall]:
    """Return `tool_calls` of a response; where it has none, those that are blocks of its content."""
    if response.tool_calls:
        return list(response.tool_calls)
    return [
        ToolCall(id=block.id, name=block.name, arguments=block.input, **block.model_extra or {})
        for block in response.content
        if isinstance(block, ToolCallBlock)
    ]
