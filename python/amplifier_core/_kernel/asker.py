"""Which hook asks a question: remembered beside the fields of its result, which stay as they are."""

from __future__ import annotations

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
