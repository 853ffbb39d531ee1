"""Reads which fields the request types of an official SDK have: `TypedDict`s and pydantic models."""

from __future__ import annotations

import io
import os
import re
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

import pydantic
import typing_extensions

_SCALARS: Mapping[Any, str] = {
    str: "string", bytes: "string", bool: "boolean", int: "integer", float: "number",
    type(None): "null",
}  # fmt: skip
_ORDER = ("string", "boolean", "integer", "number", "array", "object", "null")
_DATE = re.compile(r"_\d{8}$")
_FILES = (io.IOBase, os.PathLike, typing.IO)
"""What the SDKs read and send as base64."""


@dataclass(frozen=True)
class FieldTable:
    """The fields of an object by their JSON types, `|` between alternatives."""

    required: Mapping[str, str] = field(default_factory=dict[str, str])
    optional: Mapping[str, str] = field(default_factory=dict[str, str])


def read_fields(*kinds: Any, without: Iterable[str] = ()) -> FieldTable:
    """Read the fields of a type, or what several types (or the members of a union) have together.

    A field is required if all of them require it.
    """
    members = [member for kind in kinds for member in _list_members(kind)]
    tables = [_read_member(member) for member in members]
    names = sorted({name for table in tables for name in (*table.required, *table.optional)})
    joined = {
        name: _join(
            kind
            for table in tables
            for kind in ({**table.required, **table.optional}.get(name) or "").split("|")
        )
        for name in names
        if name not in without
    }
    required = {name for name in joined if all(name in table.required for table in tables)}
    return FieldTable(
        {name: joined[name] for name in joined if name in required},
        {name: joined[name] for name in joined if name not in required},
    )


def read_tagged(*kinds: Any, tag: str = "type", is_dated: bool = False) -> dict[str, FieldTable]:
    """Read the members of a union by the values of their tag, and the fields without it.

    Args:
        kinds: Types, or unions of them.
        tag: The field that says which type an object is.
        is_dated: Whether a date ends the tag; then those that differ in it are one.
    """
    by_tag: dict[str, list[Any]] = {}
    for kind in kinds:
        for member in _list_members(kind):
            for name in _tags_of(member, tag):
                known = by_tag.setdefault(_DATE.sub("", name) if is_dated else name, [])
                known.append(member)
    return {name: read_fields(*by_tag[name], without=(tag,)) for name in sorted(by_tag)}


def member_type(kind: Any, name: str) -> Any:
    """Return the type of a field of a `TypedDict`; of a list, that of its items."""
    value = _strip(_hints(kind)[name])
    return typing.Union[tuple(_strip_lists(value))]  # noqa: UP007  # made from a list


def _strip_lists(kind: Any) -> Iterator[Any]:
    for part in _alternatives(kind):
        if _is_list(part):
            yield from typing.get_args(part)
        elif part not in _SCALARS:
            yield part


def _list_members(kind: Any) -> list[Any]:
    parts = list(_alternatives(kind))
    # Beside the types of requests, unions of the SDKs have models of answers, for convenience.
    return [part for part in parts if typing_extensions.is_typeddict(part)] or [
        part for part in parts if _is_model(part)
    ]


def _read_member(kind: Any) -> FieldTable:
    if _is_model(kind):
        fields = kind.model_fields
        required = {name for name, each in fields.items() if each.is_required()}
        kinds = {each.alias or name: _write_kind(each.annotation) for name, each in fields.items()}
    else:
        hints = _hints(kind)
        required = {_alias(name, hint) for name, hint in hints.items() if _is_required(kind, name)}
        kinds = {_alias(name, hint): _write_kind(hint) for name, hint in hints.items()}
    return FieldTable(
        {name: kinds[name] for name in kinds if name in required},
        {name: kinds[name] for name in kinds if name not in required},
    )


def _tags_of(kind: Any, tag: str) -> tuple[str, ...]:
    hint = _hints(kind).get(tag)
    parts = [] if hint is None else [each for each in _alternatives(hint) if each is not type(None)]
    return tuple(
        name
        for part in parts
        if typing.get_origin(part) is Literal
        for name in typing.get_args(part)
    )


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing_extensions.get_type_hints(kind, include_extras=True)


def _is_required(kind: Any, name: str) -> bool:
    """Return whether a key is required; annotations that are texts are not in `__required_keys__`."""
    origin = typing.get_origin(_hints(kind)[name])
    if origin is typing_extensions.Required:
        return True
    return origin is not typing_extensions.NotRequired and name in kind.__required_keys__


def _alias(name: str, hint: Any) -> str:
    """Return the name of a field on the wire, which may be a reserved word of Python."""
    while typing.get_origin(hint) in (typing_extensions.Required, typing_extensions.NotRequired):
        (hint,) = typing.get_args(hint)
    aliases = [getattr(each, "alias", None) for each in getattr(hint, "__metadata__", ())]
    return next((alias for alias in aliases if alias), name)


def _strip(hint: Any) -> Any:
    """Return a hint without what says whether it is required, and without its metadata."""
    while typing.get_origin(hint) in (
        typing_extensions.Required,
        typing_extensions.NotRequired,
        typing.Annotated,
    ):
        hint = typing.get_args(hint)[0]
    return hint


def _alternatives(hint: Any) -> Iterator[Any]:
    stripped = _strip(hint)
    if typing.get_origin(stripped) in (typing.Union, types.UnionType):
        for part in typing.get_args(stripped):
            yield from _alternatives(part)
    elif isinstance(stripped, typing_extensions.TypeAliasType):
        yield from _alternatives(stripped.__value__)
    else:
        yield stripped


def _is_model(part: Any) -> bool:
    return isinstance(part, type) and issubclass(part, pydantic.BaseModel)


def _is_list(part: Any) -> bool:
    origin = typing.get_origin(part) or part
    if not isinstance(origin, type) or issubclass(origin, str | bytes | Mapping | io.IOBase):
        return False
    return issubclass(origin, Iterable) and not issubclass(origin, pydantic.BaseModel)


def _write_kind(hint: Any) -> str:
    return _join(kind for part in _alternatives(hint) for kind in _kinds_of(part))


def _kinds_of(part: Any) -> Iterator[str]:
    if part in (Any, object):
        yield "any"
    elif part in _SCALARS:
        yield _SCALARS[part]
    elif typing.get_origin(part) is Literal:
        yield from (_SCALARS[type(value)] for value in typing.get_args(part))
    elif typing_extensions.is_typeddict(part):
        yield "object"
    elif (typing.get_origin(part) or part) in _FILES:
        yield "string"
    elif _is_list(part):
        yield "array"
    else:
        yield "object"


def _join(kinds: Iterable[str]) -> str:
    found = {kind for kind in kinds if kind}
    if "any" in found:
        return "any"
    return "|".join(kind for kind in _ORDER if kind in found)
