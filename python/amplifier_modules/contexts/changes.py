"""Messages and lists of messages that note their changes, which saves comparing them by value."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


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


class SentMessages(list[dict[str, Any]]):
    """The messages of a request.

    Of two lists with equal `lineage`, that is not None, one begins with all messages of the other,
    each the same object or an equal one. A list that was changed, and a copy, has no lineage.
    """

    __slots__ = ("lineage",)

    # Set behind the constructor, which as a method here would take as long as all else.
    lineage: object

    def __reduce__(self) -> tuple[type[list[Any]], tuple[list[dict[str, Any]]]]:
        """Copy and pickle it as a plain list."""
        return list, (list(self),)


def _note_changes(kind: type[Any], names: Iterable[str], note: Callable[[Any], None]) -> None:
    """Have methods of a class note that its object changes, before they change it."""

    def make_noting(name: str) -> Callable[..., Any]:
        method = getattr(kind, name)

        def call_noted(self: Any, *args: Any, **kwargs: Any) -> Any:
            note(self)
            return method(self, *args, **kwargs)

        call_noted.__name__ = name
        call_noted.__doc__ = method.__doc__
        return call_noted

    for name in names:
        setattr(kind, name, make_noting(name))


def _count_change(_: OwnMessage) -> None:
    _Changes.count += 1


def _drop_lineage(messages: SentMessages) -> None:
    messages.lineage = None


_note_changes(
    OwnMessage,
    ("__setitem__", "__delitem__", "__ior__", "clear", "pop", "popitem", "setdefault", "update"),
    _count_change,
)
_note_changes(
    SentMessages,
    (
        "__setitem__", "__delitem__", "__iadd__", "__imul__", "append", "clear", "extend", "insert",
        "pop", "remove", "reverse", "sort",
    ),
    _drop_lineage,
)  # fmt: skip
