"""A changed copy of nested data, made without recursion, however deep the data is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, cast

Change: TypeAlias = Callable[[Any], Any]
Replace: TypeAlias = Callable[[Any], bool]


def _is_nested(value: Any) -> bool:
    return isinstance(value, dict | list | tuple)


def _keep(_: Any) -> bool:
    return False


def copy_nested(data: Any, change: Change, *, hides: Replace = _keep, hidden: Any = None) -> Any:
    """Copy nested dicts, lists and tuples.

    Args:
        data: What is copied; a value of any other type is changed alone.
        change: Gives the value for one that is neither a dict, a list nor a tuple.
        hides: Whether a dict's value is replaced as a whole, judged by its key.
        hidden: What it is replaced by.

    Raises:
        ValueError: The data contains itself.
    """
    if not _is_nested(data):
        return change(data)
    open_ = [_Copy(data)]
    path = {id(open_[0].source)}
    while True:
        copy = open_[-1]
        for key, value in copy.entries:
            if copy.is_dict and hides(key):
                copy.put(key, hidden)
            elif not _is_nested(value):
                copy.put(key, change(value))
            elif id(value) in path:
                raise ValueError("the data contains itself")
            else:
                copy.key = key
                open_.append(_Copy(value))
                path.add(id(open_[-1].source))
                break
        else:
            open_.pop()
            path.remove(id(copy.source))
            if not open_:
                return copy.build()
            open_[-1].put(open_[-1].key, copy.build())


def cut(data: Any, levels: int) -> Any:
    """Copy dicts, lists and tuples so many levels deep.

    A container below that, or inside itself, becomes the name of its type, as in the data of
    events. If nothing is cut, the data itself is returned.
    """
    return _cut(data, levels, [])


def _cut(data: Any, levels: int, path: list[Any]) -> Any:
    if not _is_nested(data):
        return data
    if levels == 0 or any(outer is data for outer in path):
        return type(data).__name__
    path.append(data)
    is_cut = False
    entries: list[tuple[Any, Any]] = []
    is_dict = isinstance(data, dict)
    pairs = cast("dict[Any, Any]", data).items() if is_dict else enumerate(cast("list[Any]", data))
    for key, value in pairs:
        entries.append((key, _cut(value, levels - 1, path)))
        is_cut |= entries[-1][1] is not value
    path.pop()
    if not is_cut:
        return data
    return dict(entries) if is_dict else [value for _, value in entries]


class _Copy:
    """One container on its way to a copy."""

    __slots__ = ("entries", "is_dict", "items", "key", "source")

    def __init__(self, source: Any) -> None:
        self.source = source
        self.is_dict = isinstance(source, dict)
        self.items: Any = {} if self.is_dict else []
        self.entries: Iterator[tuple[Any, Any]] = (
            iter(source.items()) if self.is_dict else enumerate(source)
        )
        self.key: Any = None
        """Key of the value that is copied now."""

    def put(self, key: Any, value: Any) -> None:
        if self.is_dict:
            self.items[key] = value
        else:
            self.items.append(value)

    def build(self) -> Any:
        return tuple(self.items) if isinstance(self.source, tuple) else self.items
