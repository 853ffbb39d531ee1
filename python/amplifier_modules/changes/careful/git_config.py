"""The format of git's settings, read without git: a file of a project may name programs to run."""

from __future__ import annotations

import re

_BOM = b"\xef\xbb\xbf"
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b", "\\": "\\", '"': '"', "\n": ""}
_SPACES = " \t\r\n"

_HEAD = re.compile(
    r"""\[(?P<section>[A-Za-z0-9.-]*)
    (?:[ \t\r]+"(?P<subsection>(?:[^"\\\n]|\\[^\n])*)")?\]""",
    re.VERBOSE,
)
_NAME = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9-]*)[ \t]*(?P<sign>=?)")
_GAP = re.compile(r"(?:[ \t\r\n]|[#;][^\n]*)*")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)

Setting = tuple[str, str | None]
"""A key with its section and name in lower case, and its value; None where a name stands alone."""


class GitConfigError(ValueError):
    """Content that git would refuse, or might read in another way."""


def parse_git_config(content: bytes) -> list[Setting]:
    """Return the settings of a file in their order; includes are not followed.

    Raises:
        GitConfigError: It is no such file.
    """
    if b"\0" in content:
        raise GitConfigError("it contains a NUL byte")
    text = content.removeprefix(_BOM).decode("utf-8", "surrogateescape").replace("\r\n", "\n")
    found: list[Setting] = []
    section = ""
    position = _skip_gap(text, 0)
    while position < len(text):
        if text[position] == "[":
            section, position = _read_head(text, position)
        else:
            name, value, position = _read_setting(text, position)
            if not section:
                raise GitConfigError(f"`{name}` is in no section")
            found.append((f"{section}.{name}", value))
        position = _skip_gap(text, position)
    return found


def _skip_gap(text: str, position: int) -> int:
    gap = _GAP.match(text, position)
    return position if gap is None else gap.end()


def _read_head(text: str, position: int) -> tuple[str, int]:
    head = _HEAD.match(text, position)
    if head is None or not (head["section"] or head["subsection"] is not None):
        raise GitConfigError(f"line {_count_lines(text, position)} is no section")
    section = head["section"].lower()
    if head["subsection"] is not None:
        section += "." + _ESCAPED.sub(r"\1", head["subsection"])
    return section, head.end()


def _read_setting(text: str, position: int) -> tuple[str, str | None, int]:
    match = _NAME.match(text, position)
    if match is None:
        raise GitConfigError(f"line {_count_lines(text, position)} is no setting")
    name, end = match["name"].lower(), match.end()
    if match["sign"]:
        value, end = _read_value(text, end)
        return name, value, end
    if end < len(text) and text[end] != "\n":
        raise GitConfigError(f"line {_count_lines(text, position)} is no setting")
    return name, None, end


def _read_value(text: str, position: int) -> tuple[str, int]:
    """Return a value and where its line ends: spaces around it and comments do not count."""
    value: list[str] = []
    spaces = 0
    is_quoted = False
    while position < len(text) and text[position] != "\n":
        one = text[position]
        position += 1
        if not is_quoted and one in _SPACES:
            spaces += bool(value)
            continue
        if not is_quoted and one in "#;":
            end = text.find("\n", position)
            return "".join(value), len(text) if end < 0 else end
        value += " " * spaces
        spaces = 0
        if one == '"':
            is_quoted = not is_quoted
        elif one == "\\":
            # At the end of a file as at the end of a line.
            escaped = text[position : position + 1] or "\n"
            if escaped not in _ESCAPES:
                raise GitConfigError(f"line {_count_lines(text, position)} has an unknown escape")
            value += _ESCAPES[escaped]
            position += 1
        else:
            value.append(one)
    if is_quoted:
        raise GitConfigError("a quote is not closed")
    return "".join(value), position


def _count_lines(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1
