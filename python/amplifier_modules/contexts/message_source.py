"""Where a message of the history comes from."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, cast

USER = "user"
MODEL = "model"
TOOL = "tool"
SYSTEM = "system"
HOOK = "hook"
STEERING = "steering"
GOAL = "goal"
"""What a loop tells a model that has not reached its goal."""
CLOSING = "closing"
"""What a loop writes where a turn ends behind the results of tools."""
GIVEN = "given"
"""A conversation that is carried on."""
REPAIR = "repair"
"""What was added to such a conversation, to make it valid."""
REPLACEMENT = "replacement"
"""One of the messages that replaced the history."""
OTHER = "other"

_BY_ROLE = {
    "user": USER,
    "assistant": MODEL,
    "tool": TOOL,
    "function": TOOL,
    "system": SYSTEM,
    "developer": SYSTEM,
}
_NAMED: ContextVar[str | None] = ContextVar("message_source", default=None)


@contextmanager
def from_source(source: str | None) -> Generator[None]:
    """Say where the messages come from that are added within; None for what they tell themselves."""
    token = _NAMED.set(source)
    try:
        yield
    finally:
        _NAMED.reset(token)


def source_of(message: Mapping[str, Any]) -> str:
    """Return where a message comes from: what the caller says, else its metadata or its role."""
    if (named := _NAMED.get()) is not None:
        return named
    metadata = message.get("metadata")
    if isinstance(metadata, Mapping) and cast("Mapping[str, Any]", metadata).get("source") == HOOK:
        return HOOK
    role = message.get("role")
    return _BY_ROLE.get(role, OTHER) if isinstance(role, str) else OTHER
