"""Messages and lists of messages that note their changes, which saves comparing them by value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast


class OwnMessage(dict[str, Any]):
    """A message that a context keeps.

    As long as `count_changes` returns the same, the same object has the same keys and values. What
    lies deeper inside a message is not watched: whoever changes it replaces the message. A copy is
    a plain dict.
    """

    __slots__ = ()

    def __reduce__(self) -> tuple[type[dict[Any, Any]], tuple[dict[str, Any]]]:
        """Copy and pickle it as a plain dict."""
        return dict, (dict(self),)


class _Changes:
    count = 0


def count_changes() -> int:
    """Return how many times messages of contexts were changed in place, in this process."""
    return _Changes.count


def _counting(name: str) -> Callable[..., Any]:
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
    setattr(OwnMessage, _name, _counting(_name))


class SentMessages(list[dict[str, Any]]):
    """The messages of a request.

    Of two lists with equal `lineage`, that is not None, one begins with all messages of the other,
    each the same object or an equal one. A list that was changed, and a copy, has no lineage.
    """

    __slots__ = ("lineage",)

    def __init__(self, messages: list[dict[str, Any]], *, lineage: object) -> None:
        """Send these messages."""
        super().__init__(messages)
        self.lineage = lineage

    def __reduce__(self) -> tuple[type[list[Any]], tuple[list[dict[str, Any]]]]:
        """Copy and pickle it as a plain list."""
        return list, (list(self),)


def _dropping_lineage(name: str) -> Callable[..., Any]:
    method = cast("Callable[..., Any]", getattr(list, name))

    def change(self: SentMessages, *args: Any, **kwargs: Any) -> Any:
        self.lineage = None
        return method(self, *args, **kwargs)

    change.__name__ = name
    change.__doc__ = method.__doc__
    return change


for _name in (
    "__setitem__", "__delitem__", "__iadd__", "__imul__", "append", "clear", "extend", "insert",
    "pop", "remove", "reverse", "sort",
):  # fmt: skip
    setattr(SentMessages, _name, _dropping_lineage(_name))
