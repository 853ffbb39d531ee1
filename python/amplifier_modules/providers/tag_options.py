"""Options of providers for models that write thinking or tool calls as tags into their text."""

from __future__ import annotations

from typing import Any, cast


def read_tags(key: str, value: Any, default: str) -> tuple[str, ...]:
    """Return the tag names that an option gives; none where it is absent or false.

    Args:
        key: The name of the option, for errors.
        value: `true` for the default tag, a name, or a list of a name and its aliases.
        default: The default tag.

    Raises:
        TypeError: The value is of another type.
        ValueError: A name cannot stand in a tag.
    """
    if value is None or value is False:
        return ()
    if value is True:
        return (default,)
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list | tuple):
        message = f"`{key}` must be true, false, a tag name or a list, found {type(value).__name__}"
        raise TypeError(message)
    given = tuple(cast("list[Any]", names))
    if not all(isinstance(name, str) for name in given):
        raise TypeError(f"`{key}` must hold tag names, which are texts")
    if not given:
        return ()
    from amplifier_stream import ThinkingParser

    try:
        ThinkingParser(given)
    except ValueError as error:
        raise ValueError(f"`{key}`: {error}") from None
    return given
