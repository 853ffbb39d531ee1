"""Errors as text, for events and results."""

from __future__ import annotations

from ..tool.exit import may_be_ctrl_c

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


def in_words(error: BaseException) -> str:
    """Return `Type: message`, or the type alone if there is no message."""
    description = describe_error(error)
    return f"{description['type']}: {description['msg']}".removesuffix(": ")
