"""Tasks of asyncio that nobody waits for."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from typing import Any

# Then nobody else can await, before the task does, what it awaits first.
_AT_ONCE: dict[str, Any] = {"eager_start": True} if sys.version_info >= (3, 12) else {}


class SilentTask(asyncio.Task[None]):
    """A task that may be collected before its end: asyncio says nothing of it then."""

    def __del__(self) -> None:
        """Say nothing."""


def begin_silently(steps: Coroutine[Any, Any, None], loop: asyncio.AbstractEventLoop) -> None:
    """Begin a task that nobody waits for."""
    SilentTask(steps, loop=loop, **_AT_ONCE)
