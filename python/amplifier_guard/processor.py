"""Incoming messages: checked once, counted, and searched for suspicious parts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, TypeAdapter
from pydantic_core import PydanticSerializationError

from amplifier_core._engine import MessageProcessor as Engine
from amplifier_core._engine import ProcessedMessage as EngineMessage
from amplifier_core.base_models import ClosedModel
from amplifier_core.message_models import Degradation, Message, ToolCallBlock
from amplifier_guard.claude import ClaudeMessage, ToolUseBlock
from amplifier_guard.finding import Finding, OnFinding
from amplifier_guard.guard_error import GuardError
from amplifier_guard.limits import Limits
from amplifier_guard.tool_input import ToolInputPolicy

CanBeEmpty: TypeAlias = Literal["text", "id", "name", "tool_result", "thinking", "message"]
"""What may be empty: a text, the id of a call, the name of a tool, a tool result, a thinking block, a
message without a block."""

_degradations = TypeAdapter(list[Degradation])


def _findings(fields: Iterable[tuple[Any, str, int, int]]) -> tuple[Finding, ...]:
    return tuple(
        Finding(kind=kind, pointer=pointer, start=start, end=end)
        for kind, pointer, start, end in fields
    )


class MessageRejected(GuardError, ValueError):
    """A message that was refused.

    Args:
        message: What is wrong, where, and what is allowed.
        pointer: The place, as a JSON pointer into the message; empty for the whole message.
        findings: The suspicious parts, if they are the reason.
    """

    def __init__(
        self,
        message: str,
        pointer: str = "",
        findings: Iterable[tuple[Any, str, int, int]] = (),
    ) -> None:
        super().__init__(message)
        self.pointer = pointer
        self.findings = _findings(findings)


class ContentStatistics(ClosedModel):
    """The contents of a message in numbers."""

    model_config = ConfigDict(frozen=True)

    blocks: dict[str, int]
    """Number of blocks of each type."""
    characters: int
    """The characters of its texts, in Unicode code points."""
    bytes: int
    """The same in bytes of UTF-8."""


class ProcessedMessage:
    """A checked message. Only a `MessageProcessor` creates one, and it is not checked again.

    `message`, `statistics` and `findings` are computed when first read, and cached; with `"ask"` and
    `"reject"` the findings are computed at once.

    Raises:
        TypeError: It was not created by a processor.
    """

    def __init__(self, checked: EngineMessage) -> None:
        if type(checked) is not EngineMessage:
            raise TypeError("only a `MessageProcessor` can make a `ProcessedMessage`")
        self._checked = checked

    @cached_property
    def message(self) -> ClaudeMessage | Message:
        """The message, as a `Message` of the kernel if it came as one."""
        model = Message if self._checked.is_of_kernel() else ClaudeMessage
        return model.model_validate_json(self._checked.to_json())

    @property
    def role(self) -> str:
        """The role of the message."""
        return self._checked.role()

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """The suspicious parts; at most 1,000."""
        found = self._checked.findings()
        return _findings(found) if found else ()

    @property
    def needs_approval(self) -> bool:
        """Whether a person must approve it before it is used."""
        return self._checked.needs_approval()

    @cached_property
    def statistics(self) -> ContentStatistics:
        """The number of its blocks, characters and bytes."""
        blocks, characters, size = self._checked.statistics()
        return ContentStatistics(blocks=blocks, characters=characters, bytes=size)

    @cached_property
    def degradations(self) -> tuple[Degradation, ...]:
        """What was left out: thinking blocks, if thinking mode is off."""
        return tuple(_degradations.validate_json(self._checked.degradations()))

    def to_json(self) -> str:
        """Return the message as JSON."""
        return self._checked.to_json()

    def validate_tool_uses(self, tools: ToolInputPolicy) -> None:
        """Check the arguments of each tool call against the schema of its tool, without a copy.

        Raises:
            ToolInputDenied: A tool is unknown, or its arguments are not those that it takes.
        """
        self._checked.validate_tool_uses(tools)

    def __repr__(self) -> str:
        """Describe the message without its text."""
        return f"<ProcessedMessage of {self.role}, {len(self.findings)} findings>"


class MessageProcessor:
    """Checks messages, in the Claude dialect and in the kernel's; safe to share.

    A message must have one of the dialect's roles, at least one block and not more than the limits
    allow; tool calls must have names and ids of visible characters, and unique ids. Texts are never
    changed: suspicious parts are reported as `Finding`s. If thinking mode is off, thinking blocks are
    left out, each reported in a `Degradation`.

    Characters are Unicode code points, counted over all texts of a message: text, code, thinking and
    tool results, and the strings and keys in the data of tool calls, tables, charts and blocks of
    unknown types. Images and signatures do not count.

    Args:
        limits: None for the defaults; `Limits.load()` reads the environment.
        findings: What to do about suspicious parts.
        allow_empty: What may be empty; models write empty thinking blocks and tool results.

    Raises:
        ValueError: A setting has an unknown value.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        findings: OnFinding = "report",
        allow_empty: Collection[CanBeEmpty] = ("thinking", "tool_result"),
    ) -> None:
        self._limits = limits or Limits()
        self._engine = Engine(self._limits.model_dump(), findings, list(allow_empty))

    @property
    def limits(self) -> Limits:
        """The limits that it applies."""
        return self._limits

    def process_user_message(self, text: str) -> ProcessedMessage:
        """Turn a text into a message of the user.

        Raises:
            MessageRejected: The text is empty, too long, or suspicious where that is refused.
        """
        return self.migrate(text)

    def migrate(self, text: str, role: str = "user") -> ProcessedMessage:
        """Turn a legacy text message into a message of blocks; see `migrate_text`.

        Raises:
            MessageRejected: The text is empty, too long, or suspicious where that is refused.
        """
        return ProcessedMessage(self._engine.process_text(role, text))

    def process(
        self,
        message: ClaudeMessage | Mapping[str, Any] | ProcessedMessage,
        *,
        calls: Iterable[str] | None = None,
    ) -> ProcessedMessage:
        """Check a message of the Claude dialect; a processed message is returned unchanged.

        Args:
            message: The message; a content that is a string becomes a block.
            calls: The ids of the open tool calls. If given, each result must belong to one of them
                or to an earlier call in the message, and each call has at most one result.

        Raises:
            MessageRejected: The message is refused.
        """
        # Asking a dict whether it is a model costs as much as reading a short message.
        if not isinstance(message, dict):
            if isinstance(message, ProcessedMessage):
                return message
            if isinstance(message, BaseModel):
                return self.process_json(_dump_message(message), calls=calls)
        return ProcessedMessage(self._engine.process_data(message, _ids(calls)))

    def process_json(
        self, text: str | bytes, *, calls: Iterable[str] | None = None
    ) -> ProcessedMessage:
        """Read a message of the Claude dialect from JSON, and check it as `process` does.

        Raises:
            MessageRejected: The message is refused.
        """
        return ProcessedMessage(self._engine.process_json(text, _ids(calls)))

    def process_kernel(
        self, message: Message | Mapping[str, Any], *, calls: Iterable[str] | None = None
    ) -> ProcessedMessage:
        """Check a message of the kernel as `process` does one of the dialect.

        Raises:
            MessageRejected: The message is refused.
        """
        if isinstance(message, BaseModel):
            made = self._engine.process_kernel_json(_dump_message(message), _ids(calls))
        else:
            made = self._engine.process_kernel_data(message, _ids(calls))
        return ProcessedMessage(made)

    def validate_tool_use(self, call: ToolUseBlock | ToolCallBlock, tools: ToolInputPolicy) -> None:
        """Check a tool call before it runs: its name, its id, and its arguments.

        Raises:
            NameDenied: Its name or id cannot be used.
            ToolInputDenied: The tool is unknown, or its arguments are not those that it takes.
        """
        self._engine.validate_tool_use(call.id, call.name, call.input, tools)


def _ids(calls: Iterable[str] | None) -> set[str] | None:
    return None if calls is None else set(calls)


def _dump_message(message: BaseModel) -> str:
    try:
        return message.model_dump_json()
    except PydanticSerializationError as error:
        raise MessageRejected(f"message is not JSON: {error}") from None
