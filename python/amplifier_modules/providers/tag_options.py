"""Settings of providers for models that write thinking or tool calls as tags in their text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, cast

from pydantic import BeforeValidator

from ..value_problems import Form

_FORM = "true, false, a tag name or a list of tag names"


def _tags(default: str) -> Callable[[Any], Any]:
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


ThinkingTags = Annotated[tuple[str, ...], BeforeValidator(_tags("thinking")), Form(_FORM)]
ToolTags = Annotated[tuple[str, ...], BeforeValidator(_tags("tool")), Form(_FORM)]
