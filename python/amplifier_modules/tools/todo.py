"""`tool-todo`: the list of what a task consists of, which the model keeps and a person sees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Literal, cast, get_args

from pydantic import Field

from amplifier_core.events import CONTEXT_COMPACTION, PROVIDER_REQUEST
from amplifier_core.models import HookResult, ToolResult
from amplifier_core.weak_link import link_weakly
from amplifier_modules.running.session_bound import session_bound
from amplifier_modules.tools.blocking import (
    INVALID,
    Arguments,
    InvalidArgumentsError,
    build_schema,
    check_arguments,
    make_failure,
)
from amplifier_providers.settings import Settings, read_settings

__all__ = ["TodoSettings", "TodoTool", "mount"]

NAME = "tool-todo"
Status = Literal["pending", "in_progress", "completed"]
STATUSES: tuple[Status, ...] = get_args(Status)
"""What an item can be."""
_MAX_ITEMS = 100
_MAX_CHARS = 1000
_MAX_RESULT_BYTES = 4096
_MARKS = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}


class TodoSettings(Settings):
    """There is nothing to set."""

    unknown_keys = "refuse"


__amplifier_module_type__ = "tool"
__amplifier_settings__ = TodoSettings


class _Item(Arguments):
    content: str = Field(
        min_length=1, max_length=_MAX_CHARS, description="What is to be done: `Run the tests`."
    )
    status: Status = Field(description="How far it is.")
    active_form: str | None = Field(
        default=None,
        max_length=_MAX_CHARS,
        description="What is said while it is being done: `Running the tests`.",
    )


class _Todos(Arguments):
    todos: list[_Item] | None = Field(
        default=None,
        max_length=_MAX_ITEMS,
        description="The whole list, which takes the place of the one before; left out, the list"
        " is only read.",
    )


class TodoTool:
    """Replaces the list, or reads it; the list is `coordinator.todo_state`, as stores keep it."""

    name = "todo"
    description = (
        "Keep a list of what the task consists of; the user sees it. Use it for tasks of three or"
        " more steps, and not for simple ones. Each call gives the whole list. Mark one item"
        " `in_progress` before you begin it, and `completed` as soon as it is done, not before."
    )
    acts_in_session = True
    idempotent = True
    is_session_bound = True
    """A sub-agent has a list of its own."""

    def __init__(self, coordinator: Any) -> None:
        """Keep the list of the session of a coordinator."""
        self._find_coordinator = link_weakly(coordinator)
        self.input_schema: dict[str, Any] = build_schema(_Todos)
        self._is_out_of_sight = False

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Replace the list, and say how far it is; without a new one, return it."""
        try:
            given = check_arguments(_Todos, input).todos
        except InvalidArgumentsError as error:
            return make_failure(str(error), INVALID, _MAX_RESULT_BYTES)
        if given is None:
            return ToolResult(output={"todos": list(self.items), **self._count()})
        self.items[:] = [each.model_dump(exclude_none=True) for each in given]
        self._is_out_of_sight = False
        return ToolResult(output=self._count())

    @property
    def items(self) -> list[Any]:
        """The list of the session, which others may have replaced."""
        coordinator: Any = self._find_coordinator()
        items: Any = getattr(coordinator, "todo_state", None)
        if not isinstance(items, list):
            items = coordinator.todo_state = []
        return cast("list[Any]", items)

    @session_bound
    async def note_compaction(self, event: str, data: dict[str, Any]) -> None:
        """Have the model reminded, as its last call may be left out of requests from now on."""
        del event, data
        self._is_out_of_sight = True

    @session_bound
    async def add_reminder(self, event: str, data: dict[str, Any]) -> HookResult | None:
        """Add the list to the history, once after each compaction, while something is open."""
        del event, data
        if not self._is_out_of_sight:
            return None
        self._is_out_of_sight = False
        counted = self._count()
        if not counted["pending"] + counted["in_progress"]:
            return None
        rows = [_write_item(each) for each in self.items]
        text = "\n".join(["Your to-do list, as it is now:", *rows])
        return HookResult(
            action="inject_context", context_injection=text, context_injection_role="user"
        )

    def _count(self) -> dict[str, int]:
        counted = Counter(each["status"] for each in self.items if _is_item(each))
        return {status: counted[status] for status in STATUSES}


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> Callable[[], None]:
    """Mount the tool as `todo`.

    Args:
        coordinator: The coordinator of the session.
        config: Empty.

    Returns:
        A callable that unregisters its handlers.

    Raises:
        SettingError: There is a key.
    """
    read_settings(TodoSettings, config, NAME)
    tool = TodoTool(coordinator)
    await coordinator.mount("tools", tool, name=tool.name)
    registered = [
        coordinator.hooks.register(CONTEXT_COMPACTION, tool.note_compaction, name=NAME),
        coordinator.hooks.register(PROVIDER_REQUEST, tool.add_reminder, name=NAME),
    ]

    def unregister() -> None:
        for each in registered:
            each()

    return unregister


def _is_item(item: Any) -> bool:
    """Whether an item of the list is one of ours; other tools may have others."""
    return isinstance(item, dict) and cast("dict[str, Any]", item).get("status") in STATUSES


def _write_item(item: Any) -> str:
    if not _is_item(item):
        return f"[ ] {str(item)[:_MAX_CHARS]}"
    return f"{_MARKS[item['status']]} {item.get('content')}"
