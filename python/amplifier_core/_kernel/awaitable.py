"""What can be awaited, and coroutines that are named after the method that made them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from inspect import isawaitable
from types import CoroutineType, GeneratorType
from typing import Any, TypeGuard, TypeVar


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


Function = TypeVar("Function", bound=Callable[..., Any])


def set_qualname(qualname: str) -> Callable[[Function], Function]:
    """Set the `__qualname__` of a coroutine function and thereby of its coroutines."""

    def rename(function: Function) -> Function:
        function.__name__ = qualname.rpartition(".")[2]
        function.__qualname__ = qualname
        return function

    return rename
