"""A model call beside the conversation, such as one for a summary."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import TypeAlias

from amplifier_core.message_models import ChatRequest, ChatResponse

SideCall: TypeAlias = Callable[[ChatRequest, str], Awaitable[ChatResponse]]
"""Asks a model for a purpose, within the budget of the turn.

Raises a `LookupError` where the budget is used up, and what the provider raises.
"""


class SideCalls:
    """The calls of one turn beside its conversation.

    Empty once the turn is over: timers and tasks keep the context in which they began, and would
    keep the session alive by it.
    """

    __slots__ = ("ask",)

    def __init__(self, ask: SideCall | None) -> None:
        """Ask by this; None for a turn without a model."""
        self.ask = ask


SIDE_CALLS: ContextVar[SideCalls | None] = ContextVar("side_calls", default=None)
"""The side calls of the turn that runs here; None outside of a turn."""
