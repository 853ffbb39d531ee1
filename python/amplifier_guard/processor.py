"""Incoming messages: checked once, counted, and searched for suspicious parts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from pydantic import ConfigDict

from amplifier_core._engine import MessageProcessor, ProcessedMessage
from amplifier_core.base_models import ClosedModel
from amplifier_guard.finding import Finding
from amplifier_guard.guard_error import GuardError

__all__ = [
    "CanBeEmpty",
    "ContentStatistics",
    "MessageProcessor",
    "MessageRejected",
    "ProcessedMessage",
]

CanBeEmpty: TypeAlias = Literal["text", "id", "name", "tool_result", "thinking", "message"]
"""What may be empty: a text, the id of a call, the name of a tool, a tool result, a thinking block, a
message without a block."""


class MessageRejected(GuardError, ValueError):
    """A message that was refused.

    Args:
        message: What is wrong, where, and what is allowed.
        pointer: The place, as a JSON pointer into the message; empty for the whole message.
        findings: The suspicious parts, if they are the reason.
    """

    def __init__(self, message: str, pointer: str = "", findings: Iterable[Finding] = ()) -> None:
        super().__init__(message)
        self.pointer = pointer
        self.findings = tuple(findings)


class ContentStatistics(ClosedModel):
    """The contents of a message in numbers."""

    model_config = ConfigDict(frozen=True)

    blocks: dict[str, int]
    """Number of blocks of each type."""
    characters: int
    """The characters of its texts, in Unicode code points."""
    bytes: int
    """The same in bytes of UTF-8."""
