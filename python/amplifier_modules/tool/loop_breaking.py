"""Tools that end the turn: the output of their call is its answer."""

from __future__ import annotations

import copy
import inspect
from typing import Any


def ends_turn(name: str, tool: Any, arguments: dict[str, Any]) -> bool:
    """Return whether a successful call of a tool ends the turn.

    Args:
        name: The mount name of the tool.
        tool: Says so by `is_loop_breaking`: a bool, or a function that gets the arguments of the
            call and returns one.
        arguments: The arguments of the call; the function gets a copy.

    Raises:
        TypeError: The function returned something else than a bool.
        Exception: What the function raised.
    """
    said = getattr(tool, "is_loop_breaking", False)
    if said is False or not inspect.isroutine(said):
        return said is True
    answer: Any = said(copy.deepcopy(arguments))
    if not isinstance(answer, bool):
        if inspect.iscoroutine(answer):
            answer.close()
        found = type(answer).__name__
        raise TypeError(f"`is_loop_breaking` of `{name}` returned a `{found}` (must be a bool)")
    return answer


def can_end_turn(tool: Any) -> bool:
    """Return whether some call of a tool may end the turn."""
    said = getattr(tool, "is_loop_breaking", False)
    return said is True or inspect.isroutine(said)
