"""Coroutines that are named after the method that made them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def set_qualname(qualname: str) -> Callable[[Function], Function]:
    """Set the `__qualname__` of a coroutine function and thereby of its coroutines."""

    def rename(function: Function) -> Function:
        function.__name__ = qualname.rpartition(".")[2]
        function.__qualname__ = qualname
        return function

    return rename
