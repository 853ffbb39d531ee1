"""Errors that end with the callee that raised them, and their description."""

from __future__ import annotations

import sys

from ..error_messages import error_text


def is_own_failure(error: BaseException) -> bool:
    """Whether an error ends with the callee that raised it.

    That is an `Exception`, or an asyncio `CancelledError` without a cancellation of the
    current task. Everything else (a cancelled task, trio's cancellation, `KeyboardInterrupt`,
    `SystemExit`, `GeneratorExit`) has to reach the caller.
    """
    if isinstance(error, Exception):
        return True
    # Without asyncio in the process, nothing can have raised its error.
    asyncio = sys.modules.get("asyncio")
    if asyncio is None or not isinstance(error, asyncio.CancelledError):
        return False
    try:
        task = asyncio.current_task()
    except RuntimeError:  # another event loop than asyncio's
        return False
    return task is not None and not task.cancelling()


def describe(error: BaseException) -> str:
    """Return `Type: message` of an error."""
    return f"{type(error).__name__}: {error_text(error)}"
