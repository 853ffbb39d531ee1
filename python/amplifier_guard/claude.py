"""The Claude dialect: messages of typed blocks, as views of the kernel's messages.

From the dialect to the kernel and back nothing is lost, including unknown block types and unknown
keys. Whatever the dialect cannot express of a kernel's message is reported in a `Degradation`:
`requested` has the place and what was found there, `actual` what became of it, `reason` why. The Rust types of the same names, in `amplifier_guard::claude`, write the same JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Union

from pydantic import (
    AliasChoices,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    field_validator,
)
from pydantic_core import PydanticSerializationError

from amplifier_core._engine import (
    claude_from_kernel,
    claude_to_kernel,
    migrate_text,
    migrate_tool_response,
    new_tool_use_id,
)
from amplifier_core.base_models import OpenModel
from amplifier_core.message_models import Degradation, Message
from amplifier_guard._message_depth import READ_LEVELS, shorten_message

__all__ = [
    "ChartBlock",
    "ClaudeMessage",
    "CodeBlock",
    "ContentBlock",
    "Degradation",
    "ImageBlock",
    "TableBlock",
    "TextBlock",
    "ThinkingBlock",
    "ToolResultBlock",
    "ToolUseBlock",
    "UnknownBlock",
    "migrate_text",
    "migrate_tool_response",
    "new_tool_use_id",
]


class TextBlock(OpenModel):
    """Text."""

    type: Literal["text"] = "text"
    text: str


class ToolUseBlock(OpenModel):
    """A tool call of the model; `input` is an object in all calls that can run."""

    type: Literal["tool_use"] = "tool_use"
    id: str
    name: str
    input: Any


class ToolResultBlock(OpenModel):
    """The result of the call `tool_use_id`; `is_error` is None if it is not known."""

    type: Literal["tool_result"] = "tool_result"
    tool_use_id: str
    content: str
    is_error: bool | None = None


def _is_none(value: object) -> bool:
    return value is None


class ThinkingBlock(OpenModel):
    """The model's reasoning; it is also read from the wire's key `thinking`.

    `signature`, with which the provider recognises its own reasoning, is left out if there is none.
    """

    type: Literal["thinking"] = "thinking"
    content: str = Field(validation_alias=AliasChoices("content", "thinking"))
    signature: str | None = Field(default=None, exclude_if=_is_none)


class ImageBlock(OpenModel):
    """An image; `source` has the form of the wire."""

    type: Literal["image"] = "image"
    source: dict[str, Any]


class CodeBlock(OpenModel):
    """Source code, and its language if known."""

    type: Literal["code"] = "code"
    language: str | None = None
    text: str


class TableBlock(OpenModel):
    """Rows of data with named columns."""

    type: Literal["table"] = "table"
    columns: list[str]
    rows: list[list[Any]]


class ChartBlock(OpenModel):
    """Data of a chart; `kind` is its type, such as `bar`."""

    type: Literal["chart"] = "chart"
    kind: str
    data: Any


KNOWN_BLOCK_TYPES = frozenset(
    ("text", "tool_use", "tool_result", "thinking", "image", "code", "table", "chart")
)
"""The block types that have a model of their own."""


class UnknownBlock(OpenModel):
    """A block of a type that has no model here, kept whole so that nothing is lost."""

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
        ToolUseBlock,
        ToolResultBlock,
        ThinkingBlock,
        ImageBlock,
        CodeBlock,
        TableBlock,
        ChartBlock,
    ],
    Field(discriminator="type"),
]

ContentBlock = Annotated[
    Union[_KnownBlock, UnknownBlock],  # noqa: UP007 -- `Annotated` has no `|` of its own kind
    Field(union_mode="left_to_right"),
]
"""Any block: the model of its `type`, or an `UnknownBlock`."""


def _as_said(value: Any) -> Any:
    return [TextBlock(text=value)] if isinstance(value, str) else value


def _as_thought(value: Any) -> Any:
    return [ThinkingBlock(content=value)] if isinstance(value, str) else value


class ClaudeMessage(OpenModel):
    """One message of a conversation with Claude; the type of seed 001.

    A string as `content` is read as one text block, and a string as `thinking` as one thinking block.
    `role` is `user`, `assistant` or `system`; other roles are kept.
    """

    role: str
    content: Annotated[
        list[ContentBlock],
        BeforeValidator(_as_said, json_schema_input_type=list[ContentBlock] | str),
    ]
    thinking: Annotated[
        list[ContentBlock] | None,
        BeforeValidator(_as_thought, json_schema_input_type=list[ContentBlock] | str | None),
    ] = None
    """Thinking blocks that are not part of `content`."""

    @classmethod
    def from_kernel(
        cls, message: Message | Mapping[str, Any]
    ) -> tuple[ClaudeMessage, list[Degradation]]:
        """Convert a kernel's message to the dialect, and report what the dialect cannot express.

        A message of the role `tool` or `function` with its call id becomes a message of the user
        with a tool result. Of what is nested too deeply to be read as JSON, 150 levels are kept.

        Raises:
            ValueError: It is not a message, or cannot be written as JSON.
        """
        if not isinstance(message, Message):
            message = Message.model_validate(message)
        try:
            return cls._from_kernel(message)
        except ValueError:
            kept, lost = shorten_message(message)
            if not lost:
                raise
            converted, degradations = cls._from_kernel(kept)
            return converted, [*lost, *degradations]

    @classmethod
    def _from_kernel(cls, message: Message) -> tuple[ClaudeMessage, list[Degradation]]:
        written, degradations = claude_from_kernel(_write_json(message))
        return cls.model_validate_json(written), _DEGRADATIONS.validate_json(degradations)

    def to_kernel(self) -> Message:
        """Convert the message to the kernel's form; `from_kernel` returns the same message.

        The blocks of `thinking` come before the others. The key `claude` of `metadata` holds what the
        kernel's message cannot express: the number of `thinking` blocks, a role that the kernel does
        not know (replaced by `user`), and keys that mean something else in the kernel. Blocks without
        an exact form in the kernel are kept whole, as blocks of an unknown type.

        Raises:
            ValueError: A field has an invalid value or one that JSON cannot hold, or the values are
                nested close to 200 levels deep.
        """
        return Message.model_validate_json(claude_to_kernel(_write_json(self)))


_DEGRADATIONS = TypeAdapter(list[Degradation], config=ConfigDict(defer_build=True))


def _write_json(message: OpenModel) -> bytes:
    # What a field was set to is judged by who reads it, with an error in place of a warning.
    try:
        return message.model_dump_json(warnings="none").encode()
    except PydanticSerializationError as error:
        reason = f"the message cannot be written as JSON: {error}"
    raise ValueError(f"{reason}; at most {READ_LEVELS} levels can be nested")
