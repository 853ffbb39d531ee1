"""Event payloads: what each handler gets is JSON-shaped and its own."""

from __future__ import annotations

from typing import Any, cast

from .. import world
from ..plain_data import PLAIN, copy_of, dump_model, is_container, key_of, shape_of


class Fields:
    """A mapping on its way through the handlers, the usual payload."""

    def __init__(self, own: dict[Any, Any]) -> None:
        # `own` is a new dict; its values are the caller's.
        if any(type(key) is not str for key in own):
            own = {key_of(key): value for key, value in own.copy().items()}
        # The usual payload has texts and numbers alone: it needs no second form, and cannot contain
        # itself.
        odd = [item for item in own.items() if type(item[1]) not in PLAIN]
        self._own: dict[str, Any] = own
        self._shape = own.copy() if odd else own
        self._nested: list[str] = []
        for key, value in odd:
            shape = self._shape[key] = shape_of(value, [own])
            if is_container(shape):
                self._nested.append(key)

    def hand_out(self) -> dict[str, Any]:
        """Copy the payload for one handler, which may change it freely."""
        copied = self._shape.copy()
        for key in self._nested:
            copied[key] = copy_of(copied[key])
        return copied

    def result(self) -> dict[str, Any]:
        """Return the data of the event's result: the caller's own values."""
        return self._own

    def replaced_by(self, data: dict[Any, Any]) -> Fields:
        """Take what a handler put in the place of this payload's data.

        A value that still equals the copy handed out is the caller's own again, so that a loop
        sees by identity what was changed.
        """
        own = dict[Any, Any].copy(data)
        for key, value in own.copy().items():
            if key in self._shape and _is_same(value, self._shape[key]):
                own[key] = self._own[key]
        return Fields(own)


class Other:
    """A payload that is not a mapping."""

    def __init__(self, value: Any) -> None:
        self._shape = shape_of(value, [])

    def hand_out(self) -> Any:
        """Copy the payload for one handler, which may change it freely."""
        return copy_of(self._shape)

    def result(self) -> dict[str, Any]:
        """Return the data of the event's result, which is always a dict."""
        return {}

    def replaced_by(self, data: dict[Any, Any]) -> Fields:
        """Take what a handler put in the place of this payload's data."""
        return Fields(dict[Any, Any].copy(data))


Payload = Fields | Other


def stamp_payload(data: Any, defaults: dict[str, Any]) -> Payload:
    """Take the data of an event, with defaults below it and a time stamp above."""
    if not issubclass(type(data), dict):
        return Other(data)
    return Fields({**defaults, **dict[Any, Any].copy(data), "timestamp": world.timestamp()})


def take_payload(data: Any) -> Payload:
    """Take the data of an event as it is."""
    if not issubclass(type(data), dict):
        return Other(data)
    return Fields(dict[Any, Any].copy(data))


def top_level(data: Any) -> Any:
    """Return the dict form of data with a `model_dump` method; other data as it is."""
    kind = cast("type[Any]", type(data))
    if kind in PLAIN or issubclass(kind, dict) or not _has_dump(data):
        return data
    fields = dump_model(data)
    return cast("dict[Any, Any]", fields) if issubclass(type(fields), dict) else data


def _has_dump(data: Any) -> bool:
    try:
        return hasattr(data, "model_dump")
    except Exception:  # noqa: BLE001 (objects may refuse every question)
        return False


def _is_same(value: Any, handed_out: Any) -> bool:
    """Whether a value is still what was handed out: the same JSON, so that `0` is not `False`."""
    if value is handed_out:
        return True
    try:
        return bool(value == handed_out) and _is_alike(value, handed_out)
    except Exception:  # noqa: BLE001 (whatever a foreign `__eq__` raises)
        return False


def _is_alike(value: Any, handed_out: Any) -> bool:
    """Whether equal values are of the same kinds, too."""
    if isinstance(handed_out, dict):
        fields = cast("dict[str, Any]", handed_out)
        return all(_is_alike(value[key], field) for key, field in fields.items())
    if isinstance(handed_out, list):
        items = cast("list[Any]", handed_out)
        return all(_is_alike(value[place], item) for place, item in enumerate(items))
    return all(isinstance(value, kind) == isinstance(handed_out, kind) for kind in (bool, float))
