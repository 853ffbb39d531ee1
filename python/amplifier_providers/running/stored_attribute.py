"""Attributes as objects store them, without asking for them."""

from __future__ import annotations

from typing import Any, cast


def find_stored(instance: Any, name: str) -> Any:
    """Return an attribute as the object or its class stores it; None if neither does.

    A mock has any attribute, but only once it is accessed. `inspect.getattr_static` says the same,
    and takes ten times as long, for each session.
    """
    stored = getattr(instance, "__dict__", None)
    if isinstance(stored, dict) and name in stored:
        return cast("dict[str, Any]", stored)[name]
    for kind in type(instance).__mro__:
        if name in kind.__dict__:
            return kind.__dict__[name]
    return None
