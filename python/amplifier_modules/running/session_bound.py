"""The mark of what belongs to one session: a tool or a handler that sub-agents do not share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

_MARK = "is_session_bound"

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


def session_bound(function: FunctionT) -> FunctionT:
    """Mark a handler as one of its session: it is not called for the events of sub-agents."""
    setattr(function, _MARK, True)
    return function


def is_session_bound(tool_or_handler: Any) -> bool:
    """Whether a tool or a handler says that it belongs to the session that it was made for."""
    return getattr(tool_or_handler, _MARK, False) is True
