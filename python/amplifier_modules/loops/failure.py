"""Errors as events and results tell of them."""

from __future__ import annotations


def described(error: BaseException) -> dict[str, str]:
    """Return type and message; an error that cannot say its message gives an empty one."""
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 -- whatever its `__str__` raises
        message = ""
    return {"type": type(error).__name__, "msg": message}


def in_words(error: BaseException) -> str:
    """Return `Type: message`, or the type alone where there is no message."""
    description = described(error)
    return f"{description['type']}: {description['msg']}".removesuffix(": ")
