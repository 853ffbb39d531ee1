"""The to-do list of a session, which tools keep as `coordinator.todo_state`."""

from __future__ import annotations

from typing import Any, cast

from pydantic_core import from_json, to_json

from ..running.kept_state import STATE

_NAME = "todo_state"


class KeptTodos:
    """The to-do list as a state of the session; see `KeptState`."""

    kind = f"{STATE}todos"

    def __init__(self, coordinator: Any) -> None:
        """Keep that of this coordinator."""
        self._coordinator = coordinator

    def describe(self) -> list[Any] | None:
        """Return a copy of the list, as tools change it in place; None for none, or no JSON."""
        todos: Any = getattr(self._coordinator, _NAME, None)
        if not isinstance(todos, list) or not todos:
            return None
        try:
            return from_json(to_json(cast("list[Any]", todos)))
        except ValueError:
            return None

    def restore(self, body: list[Any]) -> None:
        """Fill the list that a tool has made, or make one."""
        todos: Any = getattr(self._coordinator, _NAME, None)
        if isinstance(todos, list):
            cast("list[Any]", todos)[:] = body
        else:
            setattr(self._coordinator, _NAME, body)
