"""What a program asks a model, checked: type checkers do not see every program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

from pydantic import BaseModel

from .step import Call
from .types import Message, Tool

ItemT = TypeVar("ItemT")
Prompt = str | Sequence[Message]
"""A conversation; a text is one message of the user."""
_LONGEST_AGENT = 100


def call_of(messages: Prompt, tools: Sequence[Tool] | None, options: dict[str, Any]) -> Call:
    """Return the call that the arguments of `complete` ask for.

    Raises:
        TypeError: An argument is of the wrong type.
    """
    if isinstance(messages, str):
        asked = [Message(role="user", content=messages)]
    else:
        asked = _list("messages", messages, "text, or a list of `Message`")
    for position, message in enumerate(asked):
        if not isinstance(message, Message):  # pyright: ignore[reportUnnecessaryIsInstance] -- callers may not be typed
            found = type(message).__name__
            given = cast("Any", message)
            role = given.get("role") if issubclass(type(given), dict) else None
            of_role = f", of the role `{role}`," if role is not None else ""
            raise TypeError(
                f"`messages` holds a `{found}` as message {position}{of_role} (must be text, or a"
                " list of `Message`)"
            )
    offered = None if tools is None else _list("tools", tools, "a list of `Tool`")
    for tool in offered or ():
        if not isinstance(tool, Tool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"`tools` holds a `{type(tool).__name__}` (must be a list of `Tool`)")
    agent = options.pop("agent", None)
    if agent is not None and not (isinstance(agent, str) and 0 < len(agent) <= _LONGEST_AGENT):
        raise TypeError(
            f"`agent` is {agent!r} (must be a name of 1 to {_LONGEST_AGENT} characters)"
        )
    notes = {} if agent is None else {"agent": agent}
    return Call(asked, offered, options, notes)


def _list(name: str, given: Sequence[ItemT], form: str) -> list[ItemT]:
    """Return what is given as a list; a model can be iterated over, too, but is no list.

    Raises:
        TypeError: It is no list.
    """
    if isinstance(given, BaseModel | Mapping | str) or not isinstance(given, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] -- callers may not be typed
        raise TypeError(f"`{name}` is a `{type(given).__name__}` (must be {form})")
    return list(given)
