"""The messages of a request, of a context that says which of them are as they were."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast


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


def _unknown(name: str) -> Callable[..., Any]:
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
    setattr(SentMessages, _name, _unknown(_name))
