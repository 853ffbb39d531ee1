"""Messages about invalid values: what was found, and what would be right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from amplifier_core.error_messages import short_repr
from amplifier_core.suggest import suggest_or_list

_NAMES: dict[Any, str] = {
    bool: "true or false", int: "a whole number", float: "a number", str: "text",
}  # fmt: skip
_BOUNDS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}


@dataclass(frozen=True)
class Form:
    """In the annotation of a field: what a value must be, if the type does not say it."""

    text: str


def describe_problem(model: type[BaseModel], detail: Any, names: Mapping[str, str]) -> str:
    """Return what is wrong with one value.

    Args:
        model: The model that refused the value.
        detail: One of the `errors()` of the `ValidationError`.
        names: Other names of fields, such as environment variables.
    """
    if not detail["loc"] and detail["type"] == "value_error":
        return str(detail["ctx"]["error"])  # of values that do not go together
    holder, field, is_secret = _field_at(model, detail["loc"])
    name = ".".join(map(str, detail["loc"]))
    name = names.get(name) or shown_key(name)
    if detail["type"] in {"extra_forbidden", "invalid_key"}:
        return f"`{name}` is unknown{suggest_or_list(str(detail['loc'][-1]), list(holder.model_fields))}"
    wanted = f"must be {describe(field)}" if field else ""
    if detail["type"] == "missing":
        return f"`{name}` is missing ({wanted})"
    if detail["type"] == "value_error":
        wanted = str(detail["ctx"]["error"]) or wanted
    value = detail["input"]
    is_shown = not is_secret and (value is None or isinstance(value, str | int | float))
    found = short_repr(value) if is_shown else f"of type `{type(value).__name__}`"
    return f"`{name}` is {found} ({wanted})"


def describe(field: FieldInfo) -> str:
    """Return what a value of a field must be, such as `a whole number, at least 1`."""
    for item in field.metadata:
        if isinstance(item, Form):
            return item.text
    bounds = [
        f"{words} {bound:{',' if isinstance(bound, int) else ',.12g'}}"
        for name, words in _BOUNDS.items()
        for item in field.metadata
        if (bound := getattr(item, name, None)) is not None
    ]
    return ", ".join([_described_type(field.annotation), *bounds])


def model_within(annotation: Any) -> type[BaseModel] | None:
    """Return the model of nested values, also if they are optional or in a mapping."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(model_within, get_args(annotation))), None)


def shown_key(key: object) -> str:
    """Return a key as it can be shown, whatever it is: escaped, and cut where it is long."""
    return short_repr(str(key))[1:-1]


def _described_type(annotation: Any) -> str:
    for item in getattr(annotation, "__metadata__", ()):
        if isinstance(item, Form):
            return item.text
    arguments = [each for each in get_args(annotation) if each is not type(None)]
    origin = get_origin(annotation)
    if origin in (Union, UnionType):
        return " or ".join(map(_described_type, arguments))
    if origin is Literal:
        *most, last = (f"`{value}`" for value in arguments)
        return f"{', '.join(most)} or {last}"
    if origin in (list, tuple):
        item = _NAMES.get(arguments[0])
        return f"a list, each item {item}" if item else "a list"
    return _NAMES.get(annotation, "a mapping")


def _field_at(
    model: type[BaseModel], place: Sequence[str | int]
) -> tuple[type[BaseModel], FieldInfo | None, bool]:
    """Return the innermost model and field at a place, and whether it is secret."""
    field, is_secret = None, False
    parts = iter(place)
    for part in parts:
        found = model.model_fields.get(str(part))
        if found is None:
            break
        field, is_secret = found, is_secret or not found.repr
        model = model_within(found.annotation) or model
        if get_origin(found.annotation) in (dict, list):
            next(parts, None)
    return model, field, is_secret
