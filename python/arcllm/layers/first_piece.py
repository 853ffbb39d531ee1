"""The beginning of a stream: up to its first piece nothing was shown, and it can be begun again."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TypeAlias

from ..step import Call, Piece, Step

Begun: TypeAlias = tuple[AsyncGenerator[Piece], Piece]
"""A stream, and its first piece."""


async def begin(step: Step, call: Call) -> Begun:
    """Ask for a stream, and wait for its first piece. If that fails, the stream is closed."""
    pieces = step.stream(call)
    # A generator that raises is over: there is nothing to close.
    return pieces, await anext(pieces)
