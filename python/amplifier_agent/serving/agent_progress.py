"""What an agent does, as the progress of the call that asks it."""

from __future__ import annotations

from typing import Any

from amplifier_core.events import PROVIDER_REQUEST
from amplifier_modules.loops.boundary.call_context import TOOL_PROGRESS, TOOL_START
from amplifier_modules.running.session_bound import session_bound
from amplifier_modules.tool.context import ToolContext, find_context

from ..observer import choose_priority


def report_steps(coordinator: Any) -> None:
    """Report each model call and each tool of a session to whoever waits for it here."""
    context = find_context()
    if context is None:
        return
    steps = _Steps(context)
    for event in (PROVIDER_REQUEST, TOOL_START, TOOL_PROGRESS):
        coordinator.hooks.register(event, steps.report, choose_priority(event), "mcp-progress")


class _Steps:
    def __init__(self, context: ToolContext[Any]) -> None:
        self._context = context
        self._requests = 0

    @session_bound
    def report(self, event: str, data: dict[str, Any]) -> None:
        if event == PROVIDER_REQUEST:
            self._requests += 1
            message = f"step {self._requests}: asks the model"
        elif event == TOOL_START:
            message = f"step {self._requests}: runs `{data['tool_name']}`"
        else:
            message = f"step {self._requests}: `{data['tool_name']}`: {data['message']}"
        self._context.progress(message)
