"""Time limits for awaitables, under asyncio and trio."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Final


class Expired:
    """The type of `EXPIRED`."""

    def __repr__(self) -> str:
        """Name the marker."""
        return "EXPIRED"


EXPIRED: Final = Expired()
"""What `limited` returns instead of a result after a timeout."""


def _is_asyncio() -> bool:
    import asyncio

    try:
        return asyncio.current_task() is not None
    except RuntimeError:
        return False


async def limited(awaitable: Awaitable[Any], seconds: float) -> Any:
    """Await for at most `seconds`; `EXPIRED` if that was too short.

    A `TimeoutError` of the awaitable's own is raised as any other error.
    """
    if _is_asyncio():
        import asyncio

        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                return await awaitable
        except TimeoutError:
            if limit.expired():
                return EXPIRED
            raise

    import anyio

    with anyio.move_on_after(seconds):
        return await awaitable
    return EXPIRED
