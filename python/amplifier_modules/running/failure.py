"""Errors of what runs: as text for events and results, and the cancellation of a turn."""

from __future__ import annotations

import anyio

from amplifier_core.event_loop import find_asyncio_task
from amplifier_core.llm_errors import AbortError

from ..tool.endings import may_be_ctrl_c

MAX_CHARS = 100_000
"""A longer message helps neither a model nor a reader of logs."""


def describe_error(error: BaseException) -> dict[str, str]:
    """Return type and message, which is cut at `MAX_CHARS`, and empty if `str(error)` fails."""
    try:
        message = str(error)
    except BaseException as failure:  # a foreign `__str__`
        if may_be_ctrl_c(failure):
            raise
        message = ""
    if len(message) > MAX_CHARS:
        message = f"{message[:MAX_CHARS]}… [{len(message) - MAX_CHARS:,} more characters]"
    return {"type": type(error).__name__, "msg": message}


def format_error(error: BaseException) -> str:
    """Return `Type: message`, or the type alone if there is no message."""
    description = describe_error(error)
    return f"{description['type']}: {description['msg']}".removesuffix(": ")


def is_token_cancellation(error: BaseException) -> bool:
    """Whether it is the cancellation that the token of the session asked for.

    A loop that is not ours may let it through. A task that somebody else cancelled has another one.
    """
    task = find_asyncio_task()
    if task is None or isinstance(error, AbortError):
        return isinstance(error, AbortError)
    return isinstance(error, anyio.get_cancelled_exc_class()) and not task.cancelling()
