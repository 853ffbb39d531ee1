"""What a model call is for, where its provider emits events of its own."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

CALL_PURPOSE: ContextVar[dict[str, Any] | None] = ContextVar("call_purpose", default=None)
"""The `role` and the `purpose` of the call that runs here, as far as it has them; None outside."""

CALLING_SESSION: ContextVar[Callable[[], object]] = ContextVar(
    "calling_session", default=lambda: None
)
"""Returns the hooks of the session that calls a model here; None for those of the provider.

It holds them weakly: connections that outlive the session keep the context in which they began.
"""

_OF_CALLS = ("llm:", "provider:")
"""How the names of the events begin that are about a call."""


def with_purpose(event: str, data: dict[str, Any]) -> dict[str, Any]:
    """Return the payload of an event, with the `role` and the `purpose` of the call it is about."""
    facts = CALL_PURPOSE.get()
    return {**data, **facts} if facts and event.startswith(_OF_CALLS) else data


def is_helper_call() -> bool:
    """Whether the call that runs here is no part of the conversation, so that nobody sees its text."""
    return "purpose" in (CALL_PURPOSE.get() or {})
