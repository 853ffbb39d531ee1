"""Links from what is mounted in a session to the session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import ref


def link_weakly(target: Any) -> Callable[[], Any]:
    """Return a function that returns an object as long as that lives, and then None.

    A session whose modules hold it in no other way is freed as soon as nobody uses it; one in a
    cycle waits for the garbage collector, which a service pays for.
    """
    try:
        return ref(target)
    except TypeError:  # None, or a stand-in without weak references
        return lambda: target
