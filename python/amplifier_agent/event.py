"""The events of a turn, as `stream` yields them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import Field

from amplifier_core.models import ApprovalRequest


class Question(ApprovalRequest):
    """A question about one step; `tool_name` is empty where no tool is asked about."""

    id: str
    """What an answer names it by."""
    arguments: dict[str, Any] = Field(default_factory=dict[str, Any])
    """All arguments of the tool."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """An event of the kernel or of a module."""

    raw: tuple[str, dict[str, Any]]
    """Its name and its data."""


@dataclass(frozen=True, kw_only=True)
class TextDelta(Event):
    """The next piece of the answer."""

    text: str


@dataclass(frozen=True, kw_only=True)
class ThinkingDelta(Event):
    """The next piece of the model's reasoning."""

    text: str


@dataclass(frozen=True, kw_only=True)
class ToolStarted(Event):
    """A tool begins; it was allowed to."""

    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class ToolProgress(Event):
    """A tool reports its progress; `fraction` is from 0 to 1."""

    id: str
    name: str
    message: str
    fraction: float | None


@dataclass(frozen=True, kw_only=True)
class ToolFinished(Event):
    """A tool gave a result, or its call was refused."""

    id: str
    name: str
    output: Any
    is_error: bool


@dataclass(frozen=True, kw_only=True)
class QuestionAsked(Event):
    """A person is asked for permission."""

    question: Question


@dataclass(frozen=True, kw_only=True)
class Status(Event):
    """Something that a user may want to know of: a wait, a limit, a shortened conversation."""

    kind: str
    """The event's name."""
    text: str
    """The same as a sentence for a person."""


def make_event(kind: type[Event], fields: dict[str, Any]) -> Event:
    """Return an event with all of its fields, at a third of what its constructor takes.

    That sets them one by one, past its own `__setattr__`. The fields are the event's own then.
    """
    instance = object.__new__(kind)
    object.__setattr__(instance, "__dict__", fields)
    return instance
