"""Waiting, under asyncio and trio."""

from __future__ import annotations

import asyncio


async def sleep(seconds: float) -> None:
    """Wait, by the attribute `asyncio.sleep` wherever its loop runs."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        import anyio

        await anyio.sleep(seconds)
    else:
        await asyncio.sleep(seconds)
