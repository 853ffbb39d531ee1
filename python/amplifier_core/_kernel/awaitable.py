"""What can be awaited."""

from __future__ import annotations

from collections.abc import Awaitable
from inspect import isawaitable
from types import CoroutineType, GeneratorType
from typing import Any, TypeGuard


def is_awaitable(value: object) -> TypeGuard[Awaitable[Any]]:
    """Whether a value can be awaited: a coroutine, or anything whose type has `__await__`.

    The type is asked, not the value: a mock that answers every attribute is no awaitable.
    """
    kind = type(value)
    if kind is CoroutineType:
        return True
    if kind is GeneratorType:
        return isawaitable(value)
    return hasattr(kind, "__await__")
