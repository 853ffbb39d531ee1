"""A call of a function that may be async or block, and what it returns as the result of a tool."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import anyio.to_thread
from pydantic_core import to_jsonable_python

from amplifier_core.models import ToolResult

from .endings import ToolExitError


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


def tool_result(value: Any) -> ToolResult:
    """Return a value as a result: text and JSON as they are, models in their JSON form.

    Raises:
        TypeError: The value has no JSON form.
    """
    if isinstance(value, ToolResult):
        return value
    if value is None or isinstance(value, str):
        return ToolResult(output=value)
    try:
        return ToolResult(output=to_jsonable_python(value, inf_nan_mode="null"))
    except ValueError as error:
        found = type(value).__name__
        message = f"the function returned a `{found}`, which has no JSON form; return text or JSON"
        raise TypeError(message) from error
