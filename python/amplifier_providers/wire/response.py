"""Conversion of decoded answers into a `ChatResponse`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import Field

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
    ImageBlock,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolCallBlock,
    UnknownBlock,
    Usage,
)

from ..prices.amounts import read_count
from ..requests.requested_thinking import HIDDEN, THOUGHTS

if TYPE_CHECKING:
    from amplifier_stream import StreamResult


class WireResponse(ChatResponse):
    """A `ChatResponse` with fields that loops and displays use besides its typed content."""

    content_blocks: list[Any] | None = None
    """The blocks as dataclasses of `amplifier_core.content_models`, each with its raw form."""
    text: str | None = None
    """All text blocks joined without a separator; thinking is left out."""
    received: dict[str, Any] | None = Field(default=None, exclude=True, repr=False)
    """What the service sent, as plain JSON: `blocks` as they came, and what it reported of each answer
    in `answers`, several where one was continued. It is not part of dumps."""


@dataclass
class _Content:
    """The blocks of one answer in each of their forms."""

    blocks: list[ContentBlockUnion] = field(default_factory=list["ContentBlockUnion"])
    dataclasses: list[ContentBlock] = field(default_factory=list[ContentBlock])
    calls: list[ToolCall] = field(default_factory=list[ToolCall])
    broken: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Blocks of a known type without the fields of it."""

    hides_thoughts: bool = False
    """Whether thoughts are there for the service alone, which needs them back."""

    def add(self, block: dict[str, Any], raw: dict[str, Any]) -> None:
        fields = {key: value for key, value in block.items() if key != "type"}
        if self.hides_thoughts and block["type"] in THOUGHTS:
            self._add_hidden(block["type"], fields)
            return
        match block["type"]:
            case "text":
                self.blocks.append(TextBlock(**fields))
                self.dataclasses.append(TextContent(text=block["text"], raw=raw))
            case "thinking":
                self.blocks.append(ThinkingBlock(**fields))
                self.dataclasses.append(ThinkingContent(text=block["thinking"], raw=raw))
            case "redacted_thinking":
                self.blocks.append(RedactedThinkingBlock(**fields))
                self.dataclasses.append(ThinkingContent(text="", raw=raw))
            case "tool_call":
                self.add_call(fields)
                self.dataclasses.append(
                    ToolCallContent(
                        id=block["id"], name=block["name"], arguments=block["arguments"], raw=raw
                    )
                )
            case "image":
                self.blocks.append(ImageBlock(**fields))
            case _:
                self.blocks.append(UnknownBlock(**block))

    def _add_hidden(self, kind: str, fields: dict[str, Any]) -> None:
        fields["visibility"] = HIDDEN
        if kind == "thinking":
            self.blocks.append(ThinkingBlock(**fields))
        elif kind == "redacted_thinking":
            self.blocks.append(RedactedThinkingBlock(**fields))
        else:
            self.blocks.append(UnknownBlock(type=kind, **fields))

    def add_call(self, fields: dict[str, Any]) -> None:
        """Add a call; one whose arguments cannot be used has an `error` and no arguments."""
        call_id, name = fields.pop("id"), fields.pop("name")
        arguments, raw = fields.pop("arguments"), fields.pop("raw_arguments", None)
        error = fields.pop("error", None)
        fields.pop("input", None)
        if arguments is None:
            fields |= {
                "error": error or "the arguments are not a JSON object",
                "raw_arguments": raw,
            }
        self.blocks.append(ToolCallBlock(id=call_id, name=name, input=arguments or {}, **fields))
        self.calls.append(ToolCall(id=call_id, name=name, arguments=arguments or {}, **fields))


def build_response(
    results: list[StreamResult],
    blocks: list[tuple[dict[str, Any], dict[str, Any]]],
    *,
    provider: str,
    requested_model: str,
    are_emitted: bool,
    usage: Usage | None,
    details: dict[str, Any],
    degradations: list[Degradation] | None = None,
    metadata: dict[str, Any] | None = None,
    hides_thoughts: bool = False,
) -> WireResponse:
    """Build the response for a complete answer.

    Args:
        results: The answers it consists of, several where one was continued.
        blocks: Their blocks, each with its form on the wire.
        provider: Who was asked.
        requested_model: The model that was asked.
        are_emitted: Whether hooks got the events of the blocks.
        usage: What all of them used.
        details: What else the service reported of them.
        degradations: What was not done as requested.
        metadata: What the provider wants to find again in the history.
        hides_thoughts: Whether thoughts are there for the service alone.
    """
    content = _Content(hides_thoughts=hides_thoughts)
    for block, raw in blocks:
        try:
            content.add(block, raw)
        except (KeyError, ValueError):  # a known type without the fields of its type
            content.broken.append(block)
    last = results[-1]
    known: dict[str, Any] = {
        "provider": provider,
        "model": last.model or requested_model,
        "requested_model": requested_model,
        "response_id": last.id,
        "request_id": last.request_id,
        "stop_reason": last.raw_stop_reason,
        **(metadata or {}),
    }
    if are_emitted:
        known["content_blocks_emitted"] = True
    if last.stop_sequence is not None:
        known["stop_sequence"] = last.stop_sequence
    if usage is not None and (unreported := _missing_counts(results)):
        known["unreported"] = unreported
    if details:
        known["details"] = details
    if findings := [finding for each in results for finding in each.findings]:
        known["findings"] = findings
    degradations = list(degradations or ())
    if content.broken:
        known["unknown_blocks"] = content.broken
        kinds = ", ".join(sorted({f"`{block.get('type')}`" for block in content.broken}))
        degradations.append(
            Degradation(
                requested=f"content blocks {kinds}", actual="metadata", reason="no typed block fits"
            )
        )
    if len(degradations) > 1:
        known["degradations"] = [each.model_dump() for each in degradations]
    texts = [block.text for block in content.blocks if isinstance(block, TextBlock)]
    return WireResponse(
        content=content.blocks,
        tool_calls=content.calls or None,
        usage=usage,
        degradation=degradations[0] if degradations else None,
        finish_reason=last.stop_reason,
        metadata=known,
        content_blocks=content.dataclasses or None,
        text="".join(texts) if texts else None,
        received={
            "blocks": [raw for _, raw in blocks],
            "answers": list(map(_service_facts, results)),
        },
    )


def _service_facts(result: StreamResult) -> dict[str, Any]:
    """Return what the service reported about an answer, unchanged."""
    return {
        "id": result.id,
        "model": result.model,
        "request_id": result.request_id,
        "stop_reason": result.raw_stop_reason,
        "stop_sequence": result.stop_sequence,
        "usage": result.raw_usage,
        "metadata": result.metadata,
    }


def _missing_counts(results: list[StreamResult]) -> list[str]:
    """Return which counts of the usage are 0 because the service did not report them rightly."""
    keys = ("input_tokens", "output_tokens")
    return [key for key in keys if all(read_count(each.usage.get(key)) is None for each in results)]
