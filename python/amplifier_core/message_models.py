"""Messages between the kernel and the providers: blocks, requests, responses.

Every model keeps keys that it does not know, readable as attributes and written back after the
declared ones. The Rust types of the same names write the same JSON.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Union

from pydantic import ConfigDict, Field, field_validator

from amplifier_core.base_models import ClosedModel, Cost, Integer, OpenModel

Role = Literal["system", "developer", "user", "assistant", "function", "tool"]
"""Who speaks in a message."""

Visibility = Literal["internal", "developer", "user"]
"""Who may see a block."""


class TextBlock(OpenModel):
    """Text."""

    type: Literal["text"] = "text"
    text: str
    visibility: Visibility | None = None


class ThinkingBlock(OpenModel):
    """The model's reasoning, with the signature that lets it be sent back."""

    type: Literal["thinking"] = "thinking"
    thinking: str
    signature: str | None = None
    visibility: Visibility | None = None
    content: list[Any] | None = None


class RedactedThinkingBlock(OpenModel):
    """Reasoning that the provider encrypted; `data` is opaque."""

    type: Literal["redacted_thinking"] = "redacted_thinking"
    data: str
    visibility: Visibility | None = None


class ToolCallBlock(OpenModel):
    """A tool that the model asks for."""

    type: Literal["tool_call"] = "tool_call"
    id: str
    name: str
    input: dict[str, Any]
    visibility: Visibility | None = None


class ToolResultBlock(OpenModel):
    """What a tool gave back, for the call `tool_call_id`."""

    type: Literal["tool_result"] = "tool_result"
    tool_call_id: str
    output: Any
    visibility: Visibility | None = None


class ImageBlock(OpenModel):
    """An image; `source` is the provider's own form and is not checked here."""

    type: Literal["image"] = "image"
    source: dict[str, Any]
    visibility: Visibility | None = None


class ReasoningBlock(OpenModel):
    """Reasoning in the form of content and summary items."""

    type: Literal["reasoning"] = "reasoning"
    content: list[Any]
    summary: list[Any]
    visibility: Visibility | None = None


KNOWN_BLOCK_TYPES = frozenset(
    ("text", "thinking", "redacted_thinking", "tool_call", "tool_result", "image", "reasoning")
)
"""The block types that have a model of their own."""


class UnknownBlock(OpenModel):
    """A block of an unknown type, kept whole so that nothing is lost."""

    type: str

    @field_validator("type")
    @classmethod
    def _not_a_known_type(cls, value: str) -> str:
        if value in KNOWN_BLOCK_TYPES:
            message = f"`{value}` is a known block type and must have the fields of its model"
            raise ValueError(message)
        return value


_KnownBlock = Annotated[
    Union[  # noqa: UP007 -- pairs with the outer `Union`
        TextBlock,
        ThinkingBlock,
        RedactedThinkingBlock,
        ToolCallBlock,
        ToolResultBlock,
        ImageBlock,
        ReasoningBlock,
    ],
    Field(discriminator="type"),
]

ContentBlockUnion = Annotated[
    Union[_KnownBlock, UnknownBlock],  # noqa: UP007 -- `Annotated` has no `|` of its own kind
    Field(union_mode="left_to_right"),
]
"""Any block: the model of its `type`, or an `UnknownBlock`."""


class Message(OpenModel):
    """One message of a conversation."""

    role: Role
    content: str | list[ContentBlockUnion]
    name: str | None = None
    tool_call_id: str | None = None
    metadata: dict[str, Any] | None = None


class ToolSpec(OpenModel):
    """A tool as the model sees it; `parameters` is a JSON schema."""

    name: str
    parameters: dict[str, Any]
    description: str | None = None


class ResponseFormatText(ClosedModel):
    """The answer is free text."""

    type: Literal["text"] = "text"


class ResponseFormatJson(ClosedModel):
    """The answer is any JSON."""

    type: Literal["json"] = "json"


class ResponseFormatJsonSchema(ClosedModel):
    """The answer is JSON of a schema; with `by_alias` the key is written `schema`."""

    model_config = ConfigDict(populate_by_name=True)

    type: Literal["json_schema"] = "json_schema"
    json_schema: dict[str, Any] = Field(serialization_alias="schema")
    strict: bool | None = None


ResponseFormat = Union[  # noqa: UP007 -- a `typing.Union`, as its users inspect it
    ResponseFormatText, ResponseFormatJson, ResponseFormatJsonSchema
]
"""The form that an answer must have."""


class ChatRequest(OpenModel):
    """What a provider is asked to complete; `timeout` is in seconds."""

    messages: list[Message]
    tools: list[ToolSpec] | None = None
    response_format: ResponseFormat | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_output_tokens: Integer | None = None
    conversation_id: str | None = None
    stream: bool | None = False
    metadata: dict[str, Any] | None = None
    model: str | None = None
    tool_choice: str | dict[str, Any] | None = None
    stop: list[str] | None = None
    reasoning_effort: str | None = None
    timeout: float | None = None


class ToolCall(OpenModel):
    """A tool call of a response, ready to be run."""

    id: str
    name: str
    arguments: dict[str, Any]

    def get(self, key: str, default: Any = None) -> Any:
        """Return a declared or extra value as a dict would."""
        if key in type(self).model_fields:
            return getattr(self, key)
        return (self.model_extra or {}).get(key, default)


class Usage(OpenModel):
    """Tokens and cost of a response."""

    input_tokens: Integer
    output_tokens: Integer
    total_tokens: Integer
    reasoning_tokens: Integer | None = None
    cache_read_tokens: Integer | None = None
    cache_write_tokens: Integer | None = None
    cost_usd: Cost = None


class Degradation(OpenModel):
    """A request that could not be met in full."""

    requested: str
    actual: str
    reason: str


class ChatResponse(OpenModel):
    """What a provider answered."""

    content: list[ContentBlockUnion]
    tool_calls: list[ToolCall] | None = None
    usage: Usage | None = None
    degradation: Degradation | None = None
    finish_reason: str | None = None
    metadata: dict[str, Any] | None = None
