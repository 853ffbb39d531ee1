"""The events of a turn, as `stream` yields them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import Field

from amplifier_core.events import CONTENT_BLOCK_DELTA
from amplifier_core.models import ApprovalRequest
from amplifier_core.world import timestamp


class Question(ApprovalRequest):
    """A question about one step; `tool_name` is empty where no tool is asked about."""

    id: str
    """What an answer names it by."""
    arguments: dict[str, Any] = Field(default_factory=dict[str, Any])
    """All arguments of the tool."""


class _Emitted:
    """What `raw` is made of, beside the fields that an event shows."""

    __slots__ = ("_emitted",)

    _emitted: tuple[dict[str, Any], float]


@dataclass(frozen=True, kw_only=True)
class Event(_Emitted):
    """An event of the kernel or of a module."""

    raw: tuple[str, dict[str, Any]]
    """Its name and its data."""

    def __getattr__(self, name: str) -> Any:
        """Make what `make_delta` put off."""
        if name != "raw":
            raise AttributeError(name=name, obj=self)
        data, moment = self._emitted
        if "timestamp" not in data:
            data["timestamp"] = timestamp(moment)
        raw = (CONTENT_BLOCK_DELTA, data)
        object.__setattr__(self, "raw", raw)
        return raw

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields, for copies."""
        return {**self.__dict__, "raw": self.raw}


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


def make_delta(
    kind: type[TextDelta | ThinkingDelta], text: str, data: dict[str, Any], moment: float
) -> Event:
    """Return a delta whose `raw` is made once somebody asks for it, as most programs do not.

    Args:
        kind: Its class.
        text: The piece.
        data: What it was emitted with; it is the event's own then.
        moment: When that was, in seconds since 1970, for data without a time stamp.
    """
    instance: Any = object.__new__(kind)
    set_attribute = object.__setattr__  # past that of a frozen dataclass
    set_attribute(instance, "text", text)
    set_attribute(instance, "_emitted", (data, moment))
    return instance
