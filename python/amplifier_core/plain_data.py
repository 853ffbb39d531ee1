"""Plain data: its copies, whole or cut at a depth, and the JSON form of any value.

Values are copied natively, never through text, so NaN, big integers, lone surrogates and the order
of keys survive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from math import isinf, isnan
from types import NoneType
from typing import Any, TypeAlias, cast

from pydantic import BaseModel

from ._native.choice import extension

MAX_DEPTH = 200
"""Containers nested deeper than this become the name of their type."""

PLAIN = frozenset({str, NoneType, int, bool, float})
"""Types whose instances are in JSON form already and cannot change."""


def is_container(value: object) -> bool:
    """Whether a value in JSON form holds others."""
    return type(value) is dict or type(value) is list


def copy_of(value: Any) -> Any:
    """Copy a value in JSON form, however deep.

    Raises:
        ValueError: The value contains itself.
    """
    try:
        return _copy(value)
    except RecursionError:
        return copy_nested(value, lambda item: item)


def _copy(value: Any) -> Any:
    if type(value) is dict:
        copied = cast("dict[str, Any]", value).copy()
        for key, item in copied.items():
            if is_container(item):
                copied[key] = _copy(item)
        return copied
    if type(value) is list:
        items = cast("list[Any]", value).copy()
        for place, item in enumerate(items):
            if is_container(item):
                items[place] = _copy(item)
        return items
    return value


native_copy_of: Callable[[Any], Any] = copy_of if extension is None else extension._copy_of
"""The same as `copy_of`, in Rust where that is there."""


def key_of(key: Any) -> str:
    """Return a dict key as JSON writes it.

    Raises:
        TypeError: JSON has no such key.
    """
    kind = cast("type[Any]", type(key))
    if kind is str:
        return key
    if issubclass(kind, str):
        return str.__str__(key)
    if kind is bool:
        return "true" if key else "false"
    if key is None:
        return "null"
    if issubclass(kind, int):
        return int.__repr__(key)
    if issubclass(kind, float):
        if isnan(key):
            return "NaN"
        if isinf(key):
            return "Infinity" if key > 0 else "-Infinity"
        return float.__repr__(key)
    raise TypeError(f"event data keys must be str, int, float, bool or None, not `{kind.__name__}`")


def shape_of(value: Any, ancestors: list[Any]) -> Any:
    """Return the JSON form of a value, which shares no container with it.

    Args:
        value: Anything.
        ancestors: The containers around it.

    Raises:
        ValueError: The value contains itself.
        TypeError: JSON has no such key.
    """
    # Types are asked, not instances, as a mock may claim to be anything. One
    # function handles everything that nests, so that deep data costs one frame for each level.
    kind = cast("type[Any]", type(value))
    if kind in PLAIN:
        return value
    if len(ancestors) >= MAX_DEPTH:
        _refuse_cycle(value, ancestors)
        return kind.__name__
    if issubclass(kind, dict):
        _enter(value, ancestors)
        shape: Any = {}
        for key, item in dict[Any, Any].copy(value).items():
            shape[key_of(key)] = shape_of(item, ancestors)
    elif (items := _list_items(value, kind)) is not None:
        _enter(value, ancestors)
        shape = []
        for item in items:
            shape.append(shape_of(item, ancestors))
    elif _is_instance(value, Enum):
        try:
            inner = value.value
        except Exception:  # noqa: BLE001 (a property may raise anything)
            return kind.__name__
        _enter(value, ancestors)
        shape = shape_of(inner, ancestors)
    elif issubclass(kind, str):
        return str.__str__(value)
    elif issubclass(kind, int | float):
        return value
    elif _is_instance(value, BaseModel):
        _enter(value, ancestors)
        fields = dump_model(value)
        shape = kind.__name__ if fields is None else shape_of(fields, ancestors)
    elif (names := _dataclass_fields(kind)) is not None:
        _enter(value, ancestors)
        shape = {}
        for name in names:
            shape[name] = shape_of(_read_field(value, name), ancestors)
    else:
        return _write_text(value)
    ancestors.pop()
    return shape


def dump_model(model: Any) -> Any:
    """Return the fields of a model in JSON form, or as they are where that fails; None for neither."""
    try:
        dump = model.model_dump
        try:
            return dump(mode="json")
        except Exception:  # noqa: BLE001 (whatever a foreign method raises)
            return dump()
    except Exception:  # noqa: BLE001
        return None


def _list_items(value: Any, kind: type[Any]) -> list[Any] | None:
    """Return the items of a list, tuple or set; None for anything else."""
    if issubclass(kind, list):
        return list[Any].copy(value)
    if issubclass(kind, tuple):
        return list(tuple[Any, ...].__iter__(value))
    if issubclass(kind, set | frozenset):
        return list(cast("set[Any]", value))
    return None


def _dataclass_fields(kind: type[Any]) -> dict[str, Any] | None:
    fields = getattr(kind, "__dataclass_fields__", None)
    if issubclass(kind, type) or not isinstance(fields, dict):
        return None
    return cast("dict[str, Any]", fields).copy()


def _is_instance(value: Any, kind: type[Any]) -> bool:
    try:
        return isinstance(value, kind)
    except Exception:  # noqa: BLE001 (objects may refuse every question)
        return False


def _read_field(value: Any, name: str) -> Any:
    try:
        return getattr(value, name)
    except Exception:  # noqa: BLE001 (a property may raise anything)
        return None


def _write_text(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001 (whatever a foreign `__str__` raises)
        return type(value).__name__


def _enter(value: Any, ancestors: list[Any]) -> None:
    """Note a container as the innermost one."""
    _refuse_cycle(value, ancestors)
    ancestors.append(value)


def _refuse_cycle(value: Any, ancestors: list[Any]) -> None:
    for ancestor in ancestors:
        if ancestor is value:
            found = type(value).__name__
            raise ValueError(f"circular reference in event data: a `{found}` contains itself")


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


def cut_depth(data: Any, levels: int) -> Any:
    """Copy dicts, lists and tuples so many levels deep.

    A container below that, or inside itself, becomes the name of its type, as in the data of
    events. If nothing is cut, the data itself is returned.

    Raises:
        ValueError: `levels` is not from 0 to 200.
    """
    if not 0 <= levels <= MAX_DEPTH:
        raise ValueError(f"`levels` is {levels} (must be from 0 to {MAX_DEPTH})")
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
