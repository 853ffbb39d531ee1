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

SIDE_CALL: ContextVar[SideCall | None] = ContextVar("aside_call", default=None)
"""How the turn that runs here asks a model beside its conversation; None outside of a turn."""
