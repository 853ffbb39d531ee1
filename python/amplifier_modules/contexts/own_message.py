"""A message of a context that counts its changes, so that nobody has to compare it by value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast


class OwnMessage(dict[str, Any]):
    """A message that a context keeps.

    As long as `changes` is the same, the same object has the same keys and values. What lies deeper
    inside a message is not watched: whoever changes it replaces the message. A copy is a plain dict.
    """

    __slots__ = ()

    def __reduce__(self) -> tuple[type[dict[Any, Any]], tuple[dict[str, Any]]]:
        """Copy and pickle it as a plain dict."""
        return dict, (dict(self),)


class _Changes:
    count = 0


def changes() -> int:
    """Return how many times messages of contexts were changed in place, in this process."""
    return _Changes.count


def _count_changes(name: str) -> Callable[..., Any]:
    method = cast("Callable[..., Any]", getattr(dict, name))

    def change(self: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        _Changes.count += 1
        return method(self, *args, **kwargs)

    change.__name__ = name
    change.__doc__ = method.__doc__
    return change


for _name in (
    "__setitem__", "__delitem__", "__ior__", "clear", "pop", "popitem", "setdefault", "update",
):  # fmt: skip
    setattr(OwnMessage, _name, _count_changes(_name))
