"""What runs under asyncio and under trio: the loop, the task, what can be awaited."""

from __future__ import annotations

import sys
from collections.abc import Awaitable
from types import CoroutineType, GeneratorType
from typing import Any, TypeGuard


def find_asyncio_loop() -> Any:
    """Return the running event loop of asyncio; None under another one."""
    # Without asyncio in the process, nothing can run under it. `get_running_loop` raises where
    # none runs; this is documented, too.
    asyncio = sys.modules.get("asyncio")
    return asyncio and asyncio._get_running_loop()


def find_asyncio_task() -> Any:
    """Return the running task of asyncio; None under another event loop."""
    # As in `find_asyncio_loop`, whose call would cost as much as all of this.
    asyncio: Any = sys.modules.get("asyncio")
    loop = asyncio and asyncio._get_running_loop()
    return loop and asyncio.current_task(loop)


def is_awaitable(value: object) -> TypeGuard[Awaitable[Any]]:
    """Whether a value can be awaited: a coroutine, or anything whose type has `__await__`.

    The type is asked, not the value: a mock that answers every attribute is no awaitable.
    """
    kind = type(value)
    if kind is CoroutineType:
        return True
    if kind is GeneratorType:
        from inspect import isawaitable  # late: few values are generators

        return isawaitable(value)
    return hasattr(kind, "__await__")
