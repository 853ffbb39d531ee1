"""Thinking and tool calls that a model writes as tags into its text."""

from __future__ import annotations

from amplifier_core._engine import (
    ParsedCall,
    ParsedContent,
    TagEvent,
    ThinkingFilter,
    ThinkingParser,
    ToolCallParser,
    coerce_arguments,
)

__all__ = [
    "ParsedCall",
    "ParsedContent",
    "TagEvent",
    "ThinkingFilter",
    "ThinkingParser",
    "ToolCallParser",
    "coerce_arguments",
]
