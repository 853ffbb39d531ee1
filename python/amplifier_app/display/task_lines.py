"""What sub-agents do, as lines within those of the call that they work for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_app.display.renderer import ContentBlockRenderer
from amplifier_app.printable import printable_line

_INDENT = "    "


class TaskLines:
    """Draws one line for the beginning of a task, for each call of its sub-agent, and for its end."""

    def __init__(self, renderer: ContentBlockRenderer) -> None:
        """Know no task yet."""
        self._renderer = renderer
        self._names: dict[str, str] = {}
        """The names of tasks by the session that does them; one within another names both."""

    def begin(self, data: Mapping[str, Any]) -> None:
        """Draw that a task begins."""
        id = printable_line(str(data.get("task_id")), 80)
        around = self._names.get(str(data.get("session_id")))
        name = f"{around} > {id}" if around else id
        self._names[str(data.get("child_session_id"))] = name
        about = printable_line(str(data.get("description") or ""), 80)
        self._renderer.task_line(f"{_INDENT}{name}: {about or 'begins'}")

    def call(self, data: Mapping[str, Any]) -> None:
        """Draw a call of a sub-agent, whose event this is."""
        name = self._names.get(str(data.get("session_id")), "sub-agent")
        tool = ContentBlockRenderer.shown_name(str(data.get("tool_name") or ""))
        self._renderer.draw_call(f"{name}: ", tool, data.get("tool_input"), indent=_INDENT)

    def end(self, data: Mapping[str, Any]) -> None:
        """Draw how a task ended."""
        id = printable_line(str(data.get("task_id")), 80)
        name = self._names.pop(str(data.get("child_session_id")), id)
        status, reason = data.get("status"), data.get("reason")
        why = f": {printable_line(reason, 200)}" if isinstance(reason, str) else ""
        is_good = status == "completed"
        line = f"{_INDENT}{name}: {printable_line(str(status), 80)}{why}"
        self._renderer.task_line(line, "note" if is_good else "warning")


def is_of_sub_agent(data: Mapping[str, Any]) -> bool:
    """Whether an event is one of the session of a sub-agent."""
    return "parent_tool_call_id" in data
