"""The arguments of sessions and turns, checked where they are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from amplifier_modules.spending.budget import Budget


def check_turn(prompt: Any, budget: Any) -> None:
    """Check what a turn is given.

    Raises:
        TypeError: One of them is of the wrong type.
        ValueError: A block of the prompt cannot be sent to a model.
    """
    if not isinstance(prompt, str):
        from .prompt import read_blocks

        read_blocks(prompt)
    check_budget(budget)


def check_budget(budget: Any) -> None:
    """Check a budget.

    Raises:
        TypeError: It is neither a `Budget` nor None.
    """
    if budget is not None and not isinstance(budget, Budget):
        raise TypeError(f"`budget` is a `{type(budget).__name__}` (must be a `Budget`)")


def check_goal(goal: Any) -> None:
    """Check a goal.

    Raises:
        TypeError: It is neither text nor None.
        ValueError: It is empty.
    """
    if goal is not None and not isinstance(goal, str):
        raise TypeError(f"`goal` is a `{type(goal).__name__}` (must be text)")
    if goal is not None and not goal.strip():
        raise ValueError("`goal` is empty (must say when the work is done, or be None)")


def check_messages(messages: Any) -> None:
    """Check a conversation.

    Raises:
        TypeError: It is no list of mappings.
        InvalidMessageError: A message cannot be sent to a model; a `ValueError`.
    """
    if not messages and type(messages) in {tuple, list}:
        return
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Sequence):
        found = type(messages).__name__  # pyright: ignore[reportUnknownArgumentType] -- of any kind
        raise TypeError(f"`messages` is a `{found}` (must be a list)")
    for position, message in enumerate(messages):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] -- the same
        if not isinstance(message, Mapping):
            found = type(message).__name__  # pyright: ignore[reportUnknownArgumentType] -- the same
            raise TypeError(f"message {position} is a `{found}` (must be a mapping)")
    from amplifier_providers.requests.foreign_form import native_messages

    native_messages(messages)  # pyright: ignore[reportUnknownArgumentType] -- mappings, as seen above


def check_session_id(session_id: Any) -> None:
    """Check the id of a session.

    Raises:
        TypeError: It is neither text nor None.
    """
    if session_id is not None and not isinstance(session_id, str):
        raise TypeError(f"`session_id` is a `{type(session_id).__name__}` (must be text)")
