"""Calls of tools that end more than themselves: the turn, or the attempt to end the program."""

from __future__ import annotations

import copy
import inspect
import threading
from typing import Any


class ToolExitError(RuntimeError):
    """A tool tried to end the program, or a task: only its call ends."""

    def __init__(self, what: str, *, has_begun: bool = True) -> None:
        """Say what it did, and whether it ran by then."""
        effects = "its effects are unknown" if has_begun else "it was not run"
        super().__init__(f"it {what}; its call was ended, and {effects}")


def may_be_ctrl_c(error: BaseException) -> bool:
    """Whether the user may have pressed Ctrl+C, which Python raises in the main thread alone."""
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and isinstance(error, KeyboardInterrupt)


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
    declared = getattr(tool, "is_loop_breaking", False)
    if declared is False or not inspect.isroutine(declared):
        return declared is True
    answer: Any = declared(copy.deepcopy(arguments))
    if not isinstance(answer, bool):
        if inspect.iscoroutine(answer):
            answer.close()
        found = type(answer).__name__
        raise TypeError(f"`is_loop_breaking` of `{name}` returned a `{found}` (must be a bool)")
    return answer


def can_end_turn(tool: Any) -> bool:
    """Return whether some call of a tool may end the turn."""
    declared = getattr(tool, "is_loop_breaking", False)
    return declared is True or inspect.isroutine(declared)
