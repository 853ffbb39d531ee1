"""The settings that a project folder may make: each with its values, and why it is harmless."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol, cast


class Form(Protocol):
    """The values that a setting may have."""

    @property
    def right(self) -> str:
        """What would be right, for a message."""
        ...

    def is_valid(self, value: Any) -> bool:
        """Whether a value is one of them."""
        ...


class Flag(NamedTuple):
    """True or false."""

    right: str = "true or false"

    def is_valid(self, value: Any) -> bool:
        """Whether a value fits."""
        return type(value) is bool


class Whole(NamedTuple):
    """A whole number within bounds."""

    least: int
    most: int

    @property
    def right(self) -> str:
        """What would fit."""
        return f"a whole number from {self.least:,} to {self.most:,}"

    def is_valid(self, value: Any) -> bool:
        """Whether a value fits."""
        return type(value) is int and self.least <= value <= self.most


class Number(NamedTuple):
    """A number within bounds."""

    least: float
    most: float

    @property
    def right(self) -> str:
        """What would fit."""
        return f"a number from {self.least:g} to {self.most:g}"

    def is_valid(self, value: Any) -> bool:
        """Whether a value fits."""
        # Nothing compares as within bounds with NaN.
        return type(value) in (int, float) and self.least <= value <= self.most


class Choice(NamedTuple):
    """One of some words."""

    words: tuple[str, ...]

    @property
    def right(self) -> str:
        """What would fit."""
        return " or ".join(f"`{word}`" for word in self.words)

    def is_valid(self, value: Any) -> bool:
        """Whether a value fits."""
        return type(value) is str and value in self.words


class Name(NamedTuple):
    """A text of one shape, which has no room for an address, a path upwards or a sentence."""

    right: str
    pattern: re.Pattern[str]
    most_chars: int

    def is_valid(self, value: Any) -> bool:
        """Whether a value fits."""
        is_short = type(value) is str and len(value) <= self.most_chars
        return is_short and self.pattern.fullmatch(value) is not None


class Names(NamedTuple):
    """A short list of such texts."""

    item: Name
    most: int

    @property
    def right(self) -> str:
        """What would fit."""
        return f"a list of at most {self.most} items, each {self.item.right}"

    def is_valid(self, value: Any) -> bool:
        """Whether a value fits."""
        if type(value) is not list:
            return False
        items = cast("list[Any]", value)
        return len(items) <= self.most and all(map(self.item.is_valid, items))


class Setting(NamedTuple):
    """One row of the table."""

    form: Form
    why: str
    """Why somebody else may choose it."""


_WORD = Name("a short name such as `dark`", re.compile(r"[A-Za-z][A-Za-z0-9_-]*"), 40)
_MODEL = Name(
    "the name of a model such as `claude` or `vendor/model`",
    # One slash and no dot before it: a dot would make it a host to fetch a model from.
    re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9_-]*/)?[A-Za-z0-9][A-Za-z0-9._:-]*"),
    128,
)
_LANGUAGE = Name(
    "a language such as `de` or `pt-BR`",
    re.compile(r"[A-Za-z]{2,10}(?:[-_][A-Za-z0-9]{1,8}){0,3}"),
    35,
)
_FILES = Name(
    "a file pattern beneath the folder such as `target/**`",
    # At the beginning, `!` would put back what is left out, `-` be an option, `@` a file of patterns.
    re.compile(r"(?!.*\.\.)[\w.*?\[{][\w.*?\[\]{}!@,+\-/ ]*"),
    200,
)
_EFFORT = Choice(("none", "minimal", "low", "medium", "high"))
_TOKENS = Whole(1, 1_000_000)
_SHARE = Number(0, 1)

_SPENDS = "bounds what one answer costs, on the user's own account and within its limits"
_SHOWS = "changes how the screen looks, not what it says"
_CHOOSES = "chooses among the models that the user's own provider and key offer"

SETTINGS: Mapping[str, Setting | Mapping[str, Setting]] = {
    "model": Setting(_MODEL, _CHOOSES),
    "default_model": Setting(_MODEL, _CHOOSES),
    "max_tokens": Setting(_TOKENS, _SPENDS),
    "max_output_tokens": Setting(_TOKENS, _SPENDS),
    "token_budget": Setting(_TOKENS, _SPENDS),
    "thinking_budget_tokens": Setting(Whole(0, 1_000_000), _SPENDS),
    "max_iterations": Setting(Whole(1, 1_000), _SPENDS),
    "mode": Setting(
        Choice(("plan", "read-only", "ask", "review")),
        "lets less happen without a question, where it counts only if it does",
    ),
    "retries": Setting(Whole(0, 10), _SPENDS),
    "temperature": Setting(Number(0, 2), "makes answers more or less random"),
    "top_p": Setting(_SHARE, "makes answers more or less random"),
    "seed": Setting(Whole(0, 2**53), "makes answers repeatable"),
    "reasoning_effort": Setting(_EFFORT, _SPENDS),
    "extended_thinking": Setting(Flag(), _SPENDS),
    "language": Setting(_LANGUAGE, "chooses the language of answers, in a form without sentences"),
    "locale": Setting(_LANGUAGE, _SHOWS),
    "theme": Setting(_WORD, _SHOWS),
    "keymap": Setting(Choice(("default", "emacs", "vi", "vim")), "chooses a known set of keys"),
    "progress": Setting(Flag(), _SHOWS),
    "indent": Setting(Whole(0, 16), _SHOWS),
    "exclude": Setting(Names(_FILES, 100), "leaves files of the project itself unread"),
    "display": {
        "color": Setting(Choice(("auto", "always", "never")), _SHOWS),
        "markdown": Setting(Flag(), _SHOWS),
        "progress": Setting(Flag(), _SHOWS),
        "theme": Setting(_WORD, _SHOWS),
        "width": Setting(Whole(20, 1_000), _SHOWS),
    },
    "context": {
        "max_tokens": Setting(_TOKENS, _SPENDS),
        "compact_threshold": Setting(_SHARE, "says when older content is left out of requests"),
        "target_usage": Setting(_SHARE, "says how much of it is left out"),
        "protected_recent": Setting(_SHARE, "says what of it is left out last"),
    },
    "search": {
        "exclude": Setting(Names(_FILES, 100), "leaves files of the project itself unread"),
        "max_results": Setting(Whole(1, 10_000), _SPENDS),
    },
}
"""The settings by their exact names; a mapping holds those of a section."""
