"""An awaitable as a coroutine, for what takes nothing but coroutines."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def _wrap(awaitable: Awaitable[T]) -> T:  # pyright: ignore[reportUnusedFunction]
    """Await what was given and return what it gives."""
    return await awaitable
