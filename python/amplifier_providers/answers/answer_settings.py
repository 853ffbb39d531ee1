"""Settings of loops and providers about answers: the tags in their text, and how many calls they have."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, TypeAlias, cast

from pydantic import BeforeValidator, Field

from amplifier_core import world

from ..value_problems import Form

SESSION = "session"
"""The value of `tool_tags` for a tag with a random part, another one in each session."""
_FORM = "true, false, a tag name or a list of tag names"
_SESSION_TAG = re.compile("tool_[0-9a-f]{16}")


USUAL_CALLS = 128
CallsPerAnswer: TypeAlias = Annotated[int, Field(ge=1, le=10_000)]
"""So many calls of an answer may run; further ones are refused."""


def is_session_tag(tag: str) -> bool:
    """Whether a tag has the random part of a session."""
    return _SESSION_TAG.fullmatch(tag) is not None


def _tool_tags(value: Any) -> Any:
    """Read the tags of calls; those of a session are made here, once for each mount."""
    return (
        (f"tool_{world.random_bytes(8).hex()}",)
        if value == SESSION
        else _make_tag_reader("tool")(value)
    )


def _make_tag_reader(default: str) -> Callable[[Any], Any]:
    """Make a reader of a tag name, a list of a name and its aliases, or true for the default."""

    def read(value: Any) -> Any:
        if value is False:
            return ()
        names = default if value is True else value
        if not isinstance(names, str | list | tuple):
            return names
        given = (names,) if isinstance(names, str) else tuple(cast("list[Any]", names))
        if given and all(isinstance(name, str) for name in given):
            from amplifier_stream import ThinkingParser

            ThinkingParser(given)
        return given

    return read


ThinkingTags = Annotated[
    tuple[str, ...], BeforeValidator(_make_tag_reader("thinking")), Form(_FORM)
]
ToolTags = Annotated[tuple[str, ...], BeforeValidator(_tool_tags), Form(f"{_FORM}, or `{SESSION}`")]
