"""Who asks a question, and about which tool call.

The hook is remembered beside the fields of its result, which stay as they are.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
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


@dataclass(frozen=True)
class AskedCall:
    """The tool call that a person is being asked about, with all its arguments."""

    question_id: str
    tool_name: str
    """Empty where no tool is asked about."""
    arguments: dict[str, Any]


ASKED_CALL: ContextVar[AskedCall | None] = ContextVar("asked_call", default=None)
"""Set by a loop while the kernel asks."""
