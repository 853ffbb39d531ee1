"""Conversion of a decoded answer into a `ChatResponse`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from amplifier_core.content_models import (
    ContentBlock,
    TextContent,
    ThinkingContent,
    ToolCallContent,
)
from amplifier_core.message_models import (
    ChatResponse,
    ContentBlockUnion,
    Degradation,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolCallBlock,
    Usage,
)

from .config import PROVIDER

if TYPE_CHECKING:
    from amplifier_stream import StreamResult


class AnthropicChatResponse(ChatResponse):
    """A `ChatResponse` with fields that loops and displays use besides its typed content."""

    content_blocks: list[Any] | None = None
    """The blocks as dataclasses of `amplifier_core.content_models`, each with its raw form."""
    text: str | None = None
    """All text blocks joined without a separator; thinking is left out."""


@dataclass
class _Answer:
    """The blocks of one answer in each of their forms."""

    content: list[ContentBlockUnion] = field(default_factory=list["ContentBlockUnion"])
    dataclasses: list[ContentBlock] = field(default_factory=list[ContentBlock])
    calls: list[ToolCall] = field(default_factory=list[ToolCall])
    unknown: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def add(self, block: dict[str, Any]) -> None:
        fields = {key: value for key, value in block.items() if key != "type"}
        match block["type"]:
            case "text":
                self.content.append(TextBlock(**fields))
                self.dataclasses.append(TextContent(text=block["text"], raw=block))
            case "thinking":
                self.content.append(ThinkingBlock(**fields))
                self.dataclasses.append(ThinkingContent(text=block["thinking"], raw=block))
            case "redacted_thinking":
                self.content.append(RedactedThinkingBlock(**fields))
                self.dataclasses.append(ThinkingContent(text="", raw=block))
            case "tool_call":
                self.add_call(fields)
                self.dataclasses.append(
                    ToolCallContent(
                        id=block["id"], name=block["name"], arguments=block["arguments"], raw=block
                    )
                )
            case _:
                self.unknown.append(block)

    def add_call(self, fields: dict[str, Any]) -> None:
        """Add a call; one whose arguments cannot be used has an `error` and no arguments."""
        call_id, name = fields.pop("id"), fields.pop("name")
        arguments, raw = fields.pop("arguments"), fields.pop("raw_arguments", None)
        error = fields.pop("error", None)
        if arguments is None:
            fields |= {
                "error": error or "the arguments are not a JSON object",
                "raw_arguments": raw,
            }
        self.content.append(ToolCallBlock(id=call_id, name=name, input=arguments or {}, **fields))
        self.calls.append(ToolCall(id=call_id, name=name, arguments=arguments or {}, **fields))


def build_response(
    result: StreamResult, *, requested_model: str, degradation: Degradation | None = None
) -> AnthropicChatResponse:
    """Build the response for a complete answer.

    Blocks of types that only the API knows have no place among the typed blocks; they are kept
    in `metadata["unknown_blocks"]` and reported as a degradation.
    """
    answer = _Answer()
    for block in result.blocks:
        try:
            answer.add(block)
        except (KeyError, ValueError):  # a known type without the fields of its type
            answer.unknown.append(block)
    metadata: dict[str, Any] = {
        "provider": PROVIDER,
        "model": result.model or requested_model,
        "requested_model": requested_model,
        "response_id": result.id,
        "request_id": result.request_id,
        "stop_reason": result.raw_stop_reason,
        "content_blocks_emitted": True,
    }
    if result.stop_sequence is not None:
        metadata["stop_sequence"] = result.stop_sequence
    if result.metadata:
        metadata["details"] = result.metadata
    if result.findings:
        metadata["findings"] = result.findings
    if answer.unknown:
        metadata["unknown_blocks"] = answer.unknown
        kinds = ", ".join(sorted({f"`{block.get('type')}`" for block in answer.unknown}))
        degradation = degradation or Degradation(
            requested=f"content blocks {kinds}", actual="metadata", reason="no typed block for them"
        )
    texts = [block.text for block in answer.content if isinstance(block, TextBlock)]
    return AnthropicChatResponse(
        content=answer.content,
        tool_calls=answer.calls or None,
        usage=gross_usage(result.usage),
        degradation=degradation,
        finish_reason=result.stop_reason,
        metadata=metadata,
        content_blocks=answer.dataclasses or None,
        text="".join(texts) if texts else None,
    )


def gross_usage(buckets: dict[str, int | None]) -> Usage | None:
    """Add up the decoder's disjoint buckets; None where the API counted nothing.

    `input_tokens` of the result is all that the model read, cached or not, and `output_tokens`
    all that it wrote, thinking included.
    """
    if all(count is None for count in buckets.values()):
        return None
    read, written = buckets.get("cache_read_tokens"), buckets.get("cache_write_tokens")
    reasoning = buckets.get("reasoning_tokens")
    entered = (buckets.get("input_tokens") or 0) + (read or 0) + (written or 0)
    produced = (buckets.get("output_tokens") or 0) + (reasoning or 0)
    return Usage(
        input_tokens=entered,
        output_tokens=produced,
        total_tokens=entered + produced,
        reasoning_tokens=reasoning,
        cache_read_tokens=read,
        cache_write_tokens=written,
    )


def usage_payload(usage: Usage) -> dict[str, int]:
    """Return `usage` in the key names of the event `llm:response`; unknown counts are left out."""
    keys = (
        "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens",
        "reasoning_tokens",
    )  # fmt: skip
    return {key: count for key in keys if (count := getattr(usage, key)) is not None}
