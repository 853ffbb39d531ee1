"""The tool calls of a response, and the reasons why an answer is not whole."""

from __future__ import annotations

from amplifier_core.message_models import ChatResponse, ToolCall, ToolCallBlock

CUT_SHORT = frozenset({"max_tokens", "length", "model_context_window_exceeded", "pause_turn"})
"""Reasons of services why an answer ended before its end."""
REFUSED = frozenset({"refusal", "content_filter", "safety"})
"""Reasons of services why there is no answer."""


def tool_calls_of(response: ChatResponse) -> list[ToolCall]:
    """Return `tool_calls` of a response; where it has none, those that are blocks of its content."""
    if response.tool_calls:
        return list(response.tool_calls)
    return [
        ToolCall(id=block.id, name=block.name, arguments=block.input, **block.model_extra or {})
        for block in response.content
        if isinstance(block, ToolCallBlock)
    ]
