"""Who asks a question, and about which tool call.

The hook is remembered beside the fields of its result, which stay as they are.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, cast

_ASKED_BY = "_asked_by"
_UNNAMED = "_auto_"


def note_asker(result: Any, name: str) -> None:
    """Remember the hook that asks a question, if it was registered with a name."""
    fields = getattr(result, "__dict__", None)
    if isinstance(fields, dict) and not name.startswith(_UNNAMED):
        fields[_ASKED_BY] = name


def asker(result: Any) -> str | None:
    """Return the hook that asks a question, if it was registered with a name."""
    fields = getattr(result, "__dict__", None)
    name = cast("dict[str, object]", fields).get(_ASKED_BY) if isinstance(fields, dict) else None
    return name if isinstance(name, str) else None


@dataclass
class Reply:
    """What is known of an answer beside whether it grants."""

    words: str = ""
    """What whoever denied says to the model."""
    is_late: bool = False
    """Whether there was none in time."""


@dataclass(frozen=True)
class AskedCall:
    """The tool call that a person is being asked about, with all its arguments."""

    question_id: str
    tool_name: str
    """Empty where no tool is asked about."""
    arguments: dict[str, Any]
    reply: Reply = field(default_factory=Reply)


ASKED_CALL: ContextVar[AskedCall | None] = ContextVar("asked_call", default=None)
"""Set by a loop while the kernel asks."""


def note_words(words: object) -> None:
    """Remember what whoever denies says to the model; what is no text says nothing."""
    call = ASKED_CALL.get()
    if call is not None and isinstance(words, str):
        call.reply.words = words.strip()


def note_timeout() -> None:
    """Remember that nobody answered in time."""
    call = ASKED_CALL.get()
    if call is not None:
        call.reply.is_late = True
