"""One call on its way through the stack, and what each step of the stack does with it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from .deltas import Delta
from .types import LLMResponse, Message, Tool

if TYPE_CHECKING:
    from amplifier_providers.prices.allowance import Allowance

Piece: TypeAlias = Delta | LLMResponse
"""What a stream yields: deltas, at the end the response."""


@dataclass(slots=True)
class Call:
    """What is asked of a model. Steps that change it pass a copy on."""

    messages: list[Message]
    tools: list[Tool] | None = None
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    """`temperature`, `max_tokens`, `tool_choice`, `reasoning_effort`, … as they are sent."""
    notes: dict[str, Any] = field(default_factory=dict[str, Any])
    """What steps found out about the call; it becomes part of the response's `metadata`. All copies
    of a call share it."""
    on_turn: Callable[[Step], Awaitable[None]] | None = field(
        default=None, compare=False, repr=False
    )
    """Awaited with a step before the call turns to it; what it raises keeps the call from it."""
    allowance: Allowance | None = field(default=None, compare=False, repr=False)
    """What its requests may use, each of which it admits; None for no limit."""

    async def turn_to(self, step: Step) -> None:
        """Say who is about to be asked, if it may be another one than that which was loaded."""
        if self.on_turn is not None:
            await self.on_turn(step)


class Step(Protocol):
    """A layer of the stack, or the provider beneath it."""

    @property
    def name(self) -> str:
        """The provider that answers."""
        ...

    @property
    def model_name(self) -> str:
        """The model that answers."""
        ...

    async def complete(self, call: Call) -> LLMResponse:
        """Return the whole answer."""
        ...

    def stream(self, call: Call) -> AsyncGenerator[Piece]:
        """Yield the answer as it arrives, at the end the response; closed early, it ends the call."""
        ...

    async def close(self) -> None:
        """Close the connections beneath; a later call opens new ones."""
        ...
