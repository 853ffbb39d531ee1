"""A call of a function that may be async or block."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import anyio.to_thread

from .exit import ToolExitError


async def call_function(function: Callable[..., Any], *positional: Any, **named: Any) -> Any:
    """Return what a function returns: an async one is awaited here, another runs in a thread.

    A function in a thread is left behind where the caller is cancelled.
    """
    if _is_async(function):
        return await function(*positional, **named)

    def call() -> Any:
        try:
            return function(*positional, **named)
        except Exception:
            raise
        except BaseException as error:
            # Outside of the thread a `KeyboardInterrupt` would be taken for Ctrl+C.
            raise ToolExitError(f"raised `{type(error).__name__}`") from error

    returned = await anyio.to_thread.run_sync(call, abandon_on_cancel=True)
    return await returned if inspect.isawaitable(returned) else returned


def _is_async(function: Callable[..., Any]) -> bool:
    # An object can be a function by its class.
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        type(function).__call__
    )
