"""An awaitable as a coroutine, for callers that take only coroutines."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def _wrap(awaitable: Awaitable[T]) -> T:  # pyright: ignore[reportUnusedFunction]
    """Await the argument and return its result."""
    return await awaitable
