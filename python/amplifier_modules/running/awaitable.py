"""What modules return where they must return something to await."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from amplifier_core.event_loop import is_awaitable


def awaitable_of(
    returned: Any, method: str, name: str, way_out: str = "make it `async def`"
) -> Awaitable[Any]:
    """Return what a method of the module `name` returned, which must be awaitable.

    Raises:
        TypeError: It is a result already.
    """
    if is_awaitable(returned):
        return returned
    found = type(returned).__name__
    raise TypeError(
        f"`{method}` of `{name}` returned a `{found}` instead of an awaitable; {way_out}"
    )
