"""Configuration found inside a project folder, which comes from the project and not the user."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, TypeAlias, cast

from amplifier_guard.redact import Redactor

__all__ = ["ProjectConfig", "ProjectRefusal", "judge_project_config"]

Kind: TypeAlias = Literal["endpoint", "key", "hook", "server", "approval", "depth"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORDS: dict[Kind, frozenset[str]] = {
    "endpoint": _words(
        "address addr domain endpoint gateway host hostname origin port proxy uri url"
    ),
    "key": _words(
        "apikey auth authentication authorization bearer cert certificate cookie credential"
        " credentials header helper key keyring keys netrc oauth passphrase passwd password pem"
        " secret ssl tls token vault"
    ),
    "hook": _words(
        "binary cmd command entrypoint env environ environment exec executable extension handler"
        " hook import interpreter module plugin preload pythonpath script shell source"
    ),
    "server": _words("daemon listen mcp mcpservers remote server socket transport"),
    "approval": _words(
        "allow allowed allowlist approval approve approved approver ask bypass confirm confirmation"
        " consent dangerously deny denied guard permission permit policy protected sandbox security"
        " trust trusted unsafe yolo"
    ),
}
_SQUEEZED: dict[Kind, tuple[str, ...]] = {
    "endpoint": ("apibase", "baseurl", "endpoint"),
    "key": ("apikey", "password", "secret", "authtoken", "accesstoken"),
    "hook": ("hooks",),
    "server": ("mcpserver",),
    "approval": ("approval", "permission"),
}
"""Names that are often written without a separator between their words."""

_BINDING = ("binding", "map")
"""Words after which `key` means a key of the keyboard."""
_MAX_DEPTH = 64
_MAX_VALUES = 10_000
_MAX_NAME_CHARS = 120
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_URL = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.\-]*://\S*\s*")
_REASONS: dict[Kind, str] = {
    "endpoint": "it is an endpoint",
    "key": "it is a key, or says how to get one",
    "hook": "it runs code",
    "server": "it is a server",
    "approval": "it approves, or says what needs no approval",
    "depth": f"it is nested deeper than {_MAX_DEPTH}",
}


@dataclass(frozen=True, slots=True)
class ProjectRefusal:
    """A setting that a project folder may not make."""

    name: str
    """Its place, such as `providers[0].config.base_url`, escaped and cut to 120 characters."""
    kind: Kind
    """What it would set."""

    def __post_init__(self) -> None:
        """Check the types of the fields."""
        if not isinstance(cast("object", self.name), str):
            raise TypeError(f"`name` must be a text, found `{type(self.name).__name__}`")
        if type(self.kind) is not str or self.kind not in _REASONS:
            kinds = ", ".join(f"`{kind}`" for kind in _REASONS)
            raise ValueError(f"`kind` must be one of {kinds}, found `{type(self.kind).__name__}`")

    def __str__(self) -> str:
        """Say what was refused, why, and what to do instead."""
        return (
            f"`{self.name}` may not be set inside a project folder: {_REASONS[self.kind]};"
            " set it in your own configuration"
        )


@dataclass(frozen=True, slots=True)
class ProjectConfig:
    """The settings of a project that may be used, and those that were refused."""

    allowed: dict[str, Any]
    refused: list[ProjectRefusal] = field(default_factory=list[ProjectRefusal])


def judge_project_config(found: Mapping[str, Any]) -> ProjectConfig:
    """Remove from a configuration whatever could redirect or compromise a user's session.

    A project folder may come from anybody. It cannot set endpoints, keys, hooks (or anything else
    that runs code), servers and approvals: neither by name, in any spelling and at any depth, nor
    by a value that is a URL or looks like a key under another name. A refused setting is removed
    with everything in it; nothing is read from the environment.

    Args:
        found: The contents of a file in the folder, as plain data. It is not changed.

    Raises:
        ValueError: It has more than 10,000 values, counting repeated ones each time, because YAML
            aliases can turn a few lines into billions of values.
    """
    judge = _Judge()
    return ProjectConfig(judge.mapping(found, ""), judge.refused)


class _Judge:
    def __init__(self) -> None:
        self.refused: list[ProjectRefusal] = []
        self._count = 0

    def mapping(self, found: Mapping[Any, Any], place: str, depth: int = 0) -> dict[str, Any]:
        allowed: dict[str, Any] = {}
        for key, value in found.items():
            self._count_one()
            name = str(key)
            where = f"{place}.{name}" if place else name
            kind = _kind_of_name(name, value) or self._kind_of_value(value, depth)
            if kind is None:
                allowed[name] = self._inner(value, where, depth)
            else:
                self._refuse(where, kind)
        return allowed

    def _inner(self, value: Any, where: str, depth: int) -> Any:
        if isinstance(value, Mapping):
            return self.mapping(cast("Mapping[Any, Any]", value), where, depth + 1)
        if not isinstance(value, list | tuple):
            return value
        allowed: list[Any] = []
        for index, each in enumerate(cast("list[Any]", value)):
            self._count_one()
            kind = self._kind_of_value(each, depth + 1)
            if kind is None:
                allowed.append(self._inner(each, f"{where}[{index}]", depth + 1))
            else:
                self._refuse(f"{where}[{index}]", kind)
        return allowed

    def _count_one(self) -> None:
        self._count += 1
        if self._count > _MAX_VALUES:
            raise ValueError(
                f"`found` has more than {_MAX_VALUES:,} values;"
                " a configuration inside a project folder may have at most that many"
            )

    def _kind_of_value(self, value: Any, depth: int) -> Kind | None:
        if isinstance(value, Mapping | list | tuple):
            return "depth" if depth >= _MAX_DEPTH else None
        if not isinstance(value, str):
            return None
        if _URL.fullmatch(value):
            return "endpoint"
        return "key" if _redactor().redact(value) != value else None

    def _refuse(self, where: str, kind: Kind) -> None:
        shown = where.encode("unicode_escape").decode()
        if len(shown) > _MAX_NAME_CHARS:
            shown = shown[: _MAX_NAME_CHARS - 1] + "…"
        self.refused.append(ProjectRefusal(shown, kind))


def _kind_of_name(name: str, value: Any) -> Kind | None:
    words = [word.casefold() for word in _WORD.findall(name)]
    if words[:1] in (["key"], ["keys"]) and words[1:] and _singular(words[1]) in _BINDING:
        return None
    squeezed = "".join(words)
    for kind, known in _WORDS.items():
        if any(word in known or _singular(word) in known for word in words):
            # `max_tokens` and the like are numbers, which grant no access.
            if kind == "key" and _counts_tokens(words, value):
                continue
            return kind
    for kind, parts in _SQUEEZED.items():
        if any(part in squeezed for part in parts):
            return kind
    return None


def _counts_tokens(words: list[str], value: Any) -> bool:
    is_number = isinstance(value, int | float) or value is None
    others = [word for word in words if _singular(word) != "token"]
    return is_number and not any(_singular(word) in _WORDS["key"] for word in others)


def _singular(word: str) -> str:
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


@cache
def _redactor() -> Redactor:
    return Redactor()
