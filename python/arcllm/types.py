"""The types of a call: messages and tools go in, a response comes out.

The annotations of this module are evaluated, not deferred. `ToolResultBlock` holds blocks, its own
kind among them, and is completed by `model_rebuild` once all of them are defined. Pydantic completes
the other types at their first use, so that programs that only import them do not wait for it.
"""

import abc
from threading import RLock
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field
from typing_extensions import override

_REBUILDING = RLock()


class _Data(BaseModel, defer_build=True):
    """What the types have in common: each is completed at its first use."""

    @classmethod
    @override
    def model_rebuild(cls, **keywords: Any) -> bool | None:
        """Complete the type, in one thread at a time; Pydantic before 2.14 does not see to that."""
        with _REBUILDING:
            return super().model_rebuild(**keywords)


def _is_none(value: Any) -> bool:
    return value is None


class TextBlock(_Data):
    """A text."""

    type: Literal["text"] = "text"
    text: str


class ImageBlock(_Data):
    """An image: base64, a `data:` URL or an `https:` URL."""

    type: Literal["image"] = "image"
    source: str
    media_type: str


class ToolUseBlock(_Data):
    """A call that a model made."""

    type: Literal["tool_use"] = "tool_use"
    id: str
    name: str
    arguments: dict[str, Any]


class ToolResultBlock(_Data):
    """What a tool gave back."""

    type: Literal["tool_result"] = "tool_result"
    tool_use_id: str
    content: "str | list[ContentBlock]"


ContentBlock = Annotated[
    TextBlock | ImageBlock | ToolUseBlock | ToolResultBlock, Field(discriminator="type")
]
"""A block of a message; its `type` says which."""

ToolResultBlock.model_rebuild()


class Message(_Data):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str | list[ContentBlock]
    opaque: list[dict[str, Any]] | None = Field(default=None, exclude_if=_is_none, repr=False)
    """What a model wrote besides, as its service wants it back: signed thoughts, citations, items of
    a provider. Only for sending the message back; nothing in it is meant to be read. Where `content`
    was changed, `content` counts."""


class Tool(_Data):
    """A tool that a model may call; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: dict[str, Any]


class ToolCall(_Data):
    """A call that a model made, with its arguments parsed."""

    id: str
    name: str
    arguments: dict[str, Any]


class Usage(_Data):
    """The tokens of a call."""

    input_tokens: int
    output_tokens: int
    total_tokens: int
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None


class LLMResponse(_Data):
    """The answer of a model."""

    content: str | None = None
    """Its text; None if it only calls tools."""
    tool_calls: list[ToolCall] = Field(default_factory=list[ToolCall])
    usage: Usage
    model: str
    """Which model answered."""
    stop_reason: str
    """`end_turn`, `tool_use`, `max_tokens`, `stop_sequence`, `content_filter`, or what else the
    service said."""
    thinking: str | None = None
    raw: Any = Field(default=None, exclude=True, repr=False)
    """What the service sent, as plain JSON, for debugging: `blocks` as they came over the wire, and
    what it said of them in `answers` (its `id`, `usage`, `stop_reason`). Never part of a dump; None
    where the layer for security has removed something."""
    metadata: dict[str, Any] = Field(default_factory=dict[str, Any])
    """What is known besides: `cost_usd`, `request_id`, `unreported`, `degradations`, …"""
    opaque: list[dict[str, Any]] | None = Field(default=None, exclude_if=_is_none, repr=False)
    """The `opaque` of its message."""

    @property
    def message(self) -> Message:
        """The answer as the message to append to the conversation.

        Its content is a text, or blocks in the order in which the model wrote them. What cannot be
        read of the answer rides along, and goes back to the service with the message.
        """
        from .opaque import arrange_answer, call_mark

        text, entries = self.content or "", self.opaque
        calls = [
            ToolUseBlock(id=call.id, name=call.name, arguments=call.arguments)
            for call in self.tool_calls
        ]
        marked = [(call, call_mark(call.id, call.name, call.arguments)) for call in calls]
        found = arrange_answer(entries, text, marked) if entries else None
        if found is None:
            found = [*([text] if text else []), *calls]
        if len(found) == 1 and isinstance(found[0], str):
            return Message(role="assistant", content=found[0], opaque=entries)
        blocks: list[ContentBlock] = [
            TextBlock(text=each) if isinstance(each, str) else each for each in found
        ]
        return Message(role="assistant", content=blocks, opaque=entries)


class LLMProvider(abc.ABC):
    """A model that can be asked."""

    name: str
    """Which service it is."""

    @abc.abstractmethod
    async def complete(
        self, messages: list[Message], tools: list[Tool] | None = None, **kwargs: Any
    ) -> LLMResponse:
        """Return the whole answer."""

    @abc.abstractmethod
    def validate_config(self) -> bool:
        """Whether the configuration can be used."""
