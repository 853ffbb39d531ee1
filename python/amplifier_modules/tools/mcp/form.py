"""The form that a server asks a person to fill in: its fields, and what an answer means for them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from amplifier_guard import ToolInputDenied, ToolInputPolicy, ToolSchemaDenied

Kind = Literal["boolean", "choice", "choices", "text", "number", "integer"]

_MAX_FIELDS = 20
_MAX_OPTIONS = 50
_MAX_CHARS = 300


class FormError(ValueError):
    """A form that nobody can be asked to fill in, or a value that does not fit it."""


@dataclass(frozen=True)
class Field:
    """One value that is asked for."""

    name: str
    kind: Kind
    description: str
    is_required: bool
    options: Mapping[str, str]
    """The values to choose from, by what the person reads."""
    default: Any = None

    @property
    def is_typed(self) -> bool:
        """Whether its value is said in words."""
        return self.kind in ("text", "number", "integer")

    def describe(self) -> str:
        """Return a line about it, as the server says it."""
        what = {"choice": "one of", "choices": "some of"}.get(self.kind, self.kind)
        if self.options:
            what = f"{what} {', '.join(self.options)}"
        notes = [what, "" if self.is_required else "optional"]
        if self.default is not None:
            notes.append(f"default {json.dumps(self.default)}")
        about = f": {self.description}" if self.description else ""
        return f"- {self.name} ({'; '.join(filter(None, notes))}){about}"

    def read(self, words: str) -> Any:
        """Return the value that words mean.

        Raises:
            FormError: They mean none.
        """
        words = words.strip()
        try:
            if self.kind == "integer":
                return int(words)
            if self.kind == "number":
                return float(words)
        except ValueError:
            raise FormError(f"`{words}` is no {self.kind}") from None
        if self.kind == "choice":
            return self.choose((words,))
        if self.kind == "choices":
            return self.choose([each.strip() for each in words.split(",")])
        return words

    def choose(self, chosen: Sequence[str]) -> Any:
        """Return the value of the options that were chosen.

        Raises:
            FormError: They are not to choose from.
        """
        if unknown := [each for each in chosen if each not in self.options]:
            raise FormError(f"`{unknown[0]}` is not one of {', '.join(self.options)}")
        values = [self.options[each] for each in chosen]
        if self.kind == "choices":
            return values
        if len(values) != 1:
            raise FormError(f"one of {', '.join(self.options)} must be chosen")
        return values[0]


class Form:
    """What a server asks for."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """Read the schema of a form.

        Raises:
            FormError: It is none that a person can fill in.
        """
        properties: Any = schema.get("properties") or {}
        if (
            not isinstance(properties, dict)
            or len(cast("dict[str, Any]", properties)) > _MAX_FIELDS
        ):
            raise FormError("the server asks for more than a person can answer")
        required: Any = schema.get("required") or ()
        self.fields = [
            _read_field(str(name), described, required)
            for name, described in cast("dict[str, Any]", properties).items()
        ]
        """Its fields in their order."""
        self._policy = ToolInputPolicy()
        try:
            self._policy.set_schema("form", {"type": "object", **schema})
        except ToolSchemaDenied as denial:
            raise FormError(str(denial)) from denial

    def check(self, content: dict[str, Any]) -> None:
        """Check a form that is filled in.

        Raises:
            FormError: A value does not fit.
        """
        try:
            self._policy.check("form", content)
        except ToolInputDenied as denial:
            raise FormError(str(denial)) from denial

    @property
    def parts(self) -> tuple[str, ...]:
        """What a person can agree to alone: the options of the only field, else what is on or off."""
        if len(self.fields) == 1 and self.fields[0].options:
            return tuple(self.fields[0].options)
        return tuple(each.name for each in self.fields if each.kind == "boolean")

    def accept(self, parts: Sequence[str] | None) -> dict[str, Any]:
        """Return what a yes to some of the parts says; None for all of them.

        Raises:
            FormError: Too few or too many were chosen.
        """
        content: dict[str, Any] = {}
        for each in self.fields:
            if each.kind == "boolean":
                content[each.name] = parts is None or each.name in parts
            elif each.options and len(self.fields) == 1 and (parts is not None or not each.default):
                content[each.name] = each.choose(self.parts if parts is None else parts)
            elif each.default is not None:
                content[each.name] = each.default
        return content

    def read(self, words: str) -> dict[str, Any] | None:
        """Return what words say that fill in the whole form; None if they do not.

        They are the value of the only field, or a JSON object.
        """
        content: Any = None
        try:
            if words.lstrip().startswith("{"):
                content = json.loads(words)
            elif len(self.fields) == 1 and self.fields[0].kind != "boolean":
                content = {self.fields[0].name: self.fields[0].read(words)}
            if isinstance(content, dict):
                self.check(cast("dict[str, Any]", content))
                return cast("dict[str, Any]", content)
        except (ValueError, RecursionError):
            return None
        return None


def _read_field(name: str, described: Any, required: Any) -> Field:
    if not isinstance(described, dict):
        raise FormError(f"`{name}` has no schema")
    schema = cast("dict[str, Any]", described)
    options, kind = _read_options(schema), str(schema.get("type") or "string")
    kinds: dict[str, Kind] = {"boolean": "boolean", "number": "number", "integer": "integer"}
    known: Kind = kinds.get(kind, "text")
    if kind == "array":
        known = "choices"
    elif options:
        known = "choice"
    if kind not in (*kinds, "string", "array") or (kind == "array" and not options):
        raise FormError(f"`{name}` is of a kind that no person can fill in")
    texts = [str(schema[key]) for key in ("title", "description") if schema.get(key)]
    return Field(
        name,
        known,
        " -- ".join(texts)[:_MAX_CHARS],
        name in required,
        options,
        schema.get("default"),
    )


def _read_options(schema: dict[str, Any]) -> dict[str, str]:
    """Return the values to choose from, by their titles."""
    items: Any = schema.get("items")
    if isinstance(items, dict):
        schema = cast("dict[str, Any]", items)
    found: dict[str, str] = {}
    values: Any = schema.get("enum")
    if isinstance(values, list):
        listed_values = cast("list[Any]", values)
        names: list[Any] = schema.get("enumNames") or listed_values
        found = {str(n): str(v) for n, v in zip(names, listed_values, strict=False)}
    listed: Any = schema.get("oneOf") or schema.get("anyOf")
    if isinstance(listed, list):
        for each in cast("list[Any]", listed):
            if isinstance(each, dict) and "const" in each:
                option = cast("dict[str, Any]", each)
                found[str(option.get("title") or option["const"])] = str(option["const"])
    if len(found) > _MAX_OPTIONS:
        raise FormError(f"there are {len(found)} values to choose from, more than anybody reads")
    return found
