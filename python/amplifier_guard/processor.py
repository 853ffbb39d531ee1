"""Messages at the entry: checked once, counted, and looked through for what is suspicious."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, TypeAdapter
from pydantic_core import PydanticSerializationError

from amplifier_core._engine import MessageProcessor as Engine
from amplifier_core._engine import ProcessedMessage as EngineMessage
from amplifier_core._models.base_model import ClosedModel
from amplifier_core.message_models import Degradation, Message, ToolCallBlock
from amplifier_guard.claude import ClaudeMessage, ToolUseBlock
from amplifier_guard.finding import Finding, OnFinding
from amplifier_guard.guard_error import GuardError
from amplifier_guard.limits import Limits
from amplifier_guard.tool_input import ToolInputPolicy

CanBeEmpty: TypeAlias = Literal["text", "id", "name", "tool_result", "thinking", "message"]
"""What may be empty: a text, the id of a call, the name of a tool, what a tool gave back, a thought,
a message without a block."""

_degradations = TypeAdapter(list[Degradation])


def _findings(fields: Iterable[tuple[Any, str, int, int]]) -> tuple[Finding, ...]:
    return tuple(
        Finding(kind=kind, pointer=pointer, start=start, end=end)
        for kind, pointer, start, end in fields
    )


class MessageRejected(GuardError, ValueError):
    """A message that is not used.

    Args:
        message: What is wrong with it, where, and what would be right.
        pointer: The place, as a JSON pointer into the message; empty for the whole.
        findings: What looked suspicious, if that is why.
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
    """What a message holds."""

    model_config = ConfigDict(frozen=True)

    blocks: dict[str, int]
    """How many blocks of each type there are."""
    characters: int
    """The characters of its texts, in Unicode code points."""
    bytes: int
    """The same in bytes of UTF-8."""


class ProcessedMessage:
    """A message that was checked. Only a `MessageProcessor` makes one, and checks it never again.

    `message`, `statistics` and `findings` are made when they are first read, once; findings that
    decide, with `"ask"` and `"reject"`, at the entry.

    Raises:
        TypeError: It is made of anything but what a processor made.
    """

    def __init__(self, checked: EngineMessage) -> None:
        if type(checked) is not EngineMessage:
            raise TypeError("only a `MessageProcessor` can make a `ProcessedMessage`")
        self._checked = checked

    @cached_property
    def message(self) -> ClaudeMessage | Message:
        """The message: a `Message` of the kernel if it came as one."""
        model = Message if self._checked.is_of_kernel() else ClaudeMessage
        return model.model_validate_json(self._checked.to_json())

    @property
    def role(self) -> str:
        """Who speaks."""
        return self._checked.role()

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What looks suspicious in it; the first thousand."""
        found = self._checked.findings()
        return _findings(found) if found else ()

    @property
    def needs_approval(self) -> bool:
        """Whether a person must agree before it is used."""
        return self._checked.needs_approval()

    @cached_property
    def statistics(self) -> ContentStatistics:
        """What it holds."""
        blocks, characters, size = self._checked.statistics()
        return ContentStatistics(blocks=blocks, characters=characters, bytes=size)

    @cached_property
    def degradations(self) -> tuple[Degradation, ...]:
        """What was left out of it: thoughts, where thinking mode is off."""
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
        """Tell what kind of message it is, and nothing of its text."""
        return f"<ProcessedMessage of {self.role}, {len(self.findings)} findings>"


class MessageProcessor:
    """Checks messages, in the Claude dialect and in the kernel's; safe to share.

    A message has one of the dialect's roles, at least one block and not more than the limits say;
    tool calls have names and ids of visible characters, and no two the same id. Texts are never
    changed: what looks suspicious in them is a `Finding`. With thinking mode off, thoughts are left
    out and named in a `Degradation` each.

    Characters are Unicode code points, those of all texts of a message together: of text, code,
    thoughts and tool results, and of the strings and keys in the data of tool calls, tables, charts
    and blocks of unknown types. Images and signatures are no text.

    Args:
        limits: None for the defaults; `Limits.load()` reads the environment.
        findings: What is done about suspicious patterns.
        allow_empty: What may be empty; thoughts and tool results are in what models answer.

    Raises:
        ValueError: A setting is not one of its words.
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
        """The limits it keeps to."""
        return self._limits

    def process_user_message(self, text: str) -> ProcessedMessage:
        """Make a text a message of the user.

        Raises:
            MessageRejected: The text is empty, too long, or suspicious where that is refused.
        """
        return self.migrate(text)

    def migrate(self, text: str, role: str = "user") -> ProcessedMessage:
        """Make a message of the time of plain strings a message of blocks; see `migrate_text`.

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
        """Check a message of the Claude dialect; what was processed before comes back as it is.

        Args:
            message: The message; a content that is a string becomes a block.
            calls: The ids of the tool calls that wait for a result. Then each result must name one
                of them, or a call before it in the message, and none is answered twice.

        Raises:
            MessageRejected: It is not a message that can be used.
        """
        # Asking a dict whether it is a model costs as much as reading a short message.
        if not isinstance(message, dict):
            if isinstance(message, ProcessedMessage):
                return message
            if isinstance(message, BaseModel):
                return self.process_json(_dumped(message), calls=calls)
        return ProcessedMessage(self._engine.process_data(message, _ids(calls)))

    def process_json(
        self, text: str | bytes, *, calls: Iterable[str] | None = None
    ) -> ProcessedMessage:
        """Read a message of the Claude dialect from JSON, and check it as `process` does.

        Raises:
            MessageRejected: It is not a message that can be used.
        """
        return ProcessedMessage(self._engine.process_json(text, _ids(calls)))

    def process_kernel(
        self, message: Message | Mapping[str, Any], *, calls: Iterable[str] | None = None
    ) -> ProcessedMessage:
        """Check a message of the kernel as `process` does one of the dialect.

        Raises:
            MessageRejected: It is not a message that can be used.
        """
        if isinstance(message, BaseModel):
            made = self._engine.process_kernel_json(_dumped(message), _ids(calls))
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


def _dumped(message: BaseModel) -> str:
    try:
        return message.model_dump_json()
    except PydanticSerializationError as error:
        raise MessageRejected(f"message is not JSON: {error}") from None
