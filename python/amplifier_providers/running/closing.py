"""The end of an async iterator that is left before its end."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

PieceT = TypeVar("PieceT")


@asynccontextmanager
async def closing(pieces: AsyncIterator[PieceT]) -> AsyncGenerator[AsyncIterator[PieceT]]:
    """Close an async generator on leaving; its clean-up would else run at some later time."""
    try:
        yield pieces
    finally:
        if isinstance(pieces, AsyncGenerator):
            await pieces.aclose()
