"""What modules return where they must return something to await."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable
from typing import Any


def awaitable_of(
    returned: Any, method: str, name: str, way_out: str = "make it `async def`"
) -> Awaitable[Any]:
    """Return what a method of the module `name` returned, which must be awaitable.

    Raises:
        TypeError: It is a result already.
    """
    if inspect.isawaitable(returned):
        return returned
    found = type(returned).__name__
    raise TypeError(
        f"`{method}` of `{name}` returned a `{found}` instead of an awaitable; {way_out}"
    )
