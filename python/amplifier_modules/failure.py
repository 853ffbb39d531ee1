"""Errors as text, for events and results."""

from __future__ import annotations


def described(error: BaseException) -> dict[str, str]:
    """Return type and message; the message is empty if `str(error)` fails."""
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 -- a foreign `__str__`
        message = ""
    return {"type": type(error).__name__, "msg": message}


def in_words(error: BaseException) -> str:
    """Return `Type: message`, or the type alone if there is no message."""
    description = described(error)
    return f"{description['type']}: {description['msg']}".removesuffix(": ")
