"""The head of a Markdown file: fields in YAML between two lines of `---`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, cast

import yaml

from amplifier_guard import TerminalText

MAX_HEAD_CHARS = 8 * 1024
"""The longest head that is read."""
_MAX_EVENTS = 2_000
_MAX_DEPTH = 8
_MAX_BRACKETS = 100
_MAX_NAME_CHARS = 64
_MAX_LINE_CHARS = 4 * 1024
_TOO_DEEP = "its fields are too many or nested too deeply"
_HEAD = re.compile(r"---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class FrontmatterError(ValueError):
    """A file without a head that can be used, and why."""


class Frontmatter(NamedTuple):
    """A Markdown file."""

    fields: Mapping[str, Any]
    """The fields: texts, and lists and mappings of them."""
    body: str


def split_frontmatter(text: str) -> Frontmatter:
    """Return the head of a file and the text below it.

    Every value is a text, whatever YAML may see in it. References (`&`, `*`) are refused, as a few
    lines of them stand for billions.

    Raises:
        FrontmatterError: There is no head, or it is none that can be read.
    """
    found = _HEAD.match(text, 0, len(text))
    if found is None:
        raise FrontmatterError("it does not begin with fields between two lines of `---`")
    head = found[1]
    if len(head) > MAX_HEAD_CHARS:
        raise FrontmatterError(f"its fields have more than {MAX_HEAD_CHARS:,} characters")
    try:
        _check_events(head)
        # Of the safe loaders this is the one that makes nothing but texts, lists and mappings.
        fields: Any = yaml.load(head, yaml.BaseLoader)
    except FrontmatterError:
        raise
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        raise FrontmatterError(f"its fields are no YAML{_find_line(error)}") from None
    if fields == "":
        fields = {}
    if not isinstance(fields, dict):
        raise FrontmatterError("its fields are no mapping")
    return Frontmatter(cast("dict[str, Any]", fields), text[found.end() :])


def _check_events(head: str) -> None:
    # The scanner looks at each open bracket again for each one in it.
    if head.count("[") + head.count("{") > _MAX_BRACKETS:
        raise FrontmatterError(_TOO_DEEP)
    depth = 0
    parse = cast("Callable[..., Iterator[yaml.Event]]", yaml.parse)  # pyright: ignore[reportUnknownMemberType]
    events = parse(head, yaml.BaseLoader)
    for count, event in enumerate(events):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise FrontmatterError("its fields have references (`&` or `*`)")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _MAX_DEPTH or count > _MAX_EVENTS:
            raise FrontmatterError(_TOO_DEEP)


def _find_line(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    # The line after the one that opens the head is its first.
    return "" if mark is None else f" (line {mark.line + 2})"


def read_name(fields: Mapping[str, Any], usual: str) -> str:
    """Return the name that the fields say, else the usual one.

    Raises:
        FrontmatterError: It is no short name.
    """
    name: Any = fields.get("name", usual)
    if not isinstance(name, str) or len(name) > _MAX_NAME_CHARS or not _NAME.fullmatch(name):
        raise FrontmatterError(
            f"its name must have letters, digits, `-`, `_` and `.`, at most {_MAX_NAME_CHARS}"
        )
    return name


def read_line_of(fields: Mapping[str, Any], name: str) -> str:
    """Return a field that is a text, as one line.

    Raises:
        FrontmatterError: It is missing, or no text.
    """
    value: Any = fields.get(name)
    if not isinstance(value, str) or not value.strip():
        raise FrontmatterError(f"it has no `{name}`")
    # A text in quotes can have escapes for characters that were harmless in the file.
    return TerminalText.line(value, _MAX_LINE_CHARS)


def read_names(fields: Mapping[str, Any], name: str) -> tuple[str, ...] | None:
    """Return a field with names, as a list or separated by commas; None without the field.

    Commas and spaces within brackets separate nothing.

    Raises:
        FrontmatterError: It is neither.
    """
    if name not in fields:
        return None
    value: Any = fields[name]
    if isinstance(value, str):
        return tuple(_split_names(value))
    if isinstance(value, list) and all(isinstance(each, str) for each in cast("list[Any]", value)):
        return tuple(each.strip() for each in cast("list[str]", value) if each.strip())
    raise FrontmatterError(f"its `{name}` is no list of names")


def _split_names(text: str) -> list[str]:
    names, depth = [""], 0
    for each in text:
        depth += (each == "(") - (each == ")")
        if depth <= 0 and (each == "," or each.isspace()):
            names.append("")
        else:
            names[-1] += each
    return [each for each in names if each]
