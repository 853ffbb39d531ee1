"""The tool `present_plan`: a person decides about a plan, and a yes ends the mode `plan`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from amplifier_core.models import ToolResult
from amplifier_modules.tool.context import ToolContext

from .modes import PRESENT_PLAN, Mode


class PlanTool:
    """Presents a plan to a person."""

    name = PRESENT_PLAN
    description = (
        "Present the plan when you have read enough to be sure of it. A person agrees, and you carry"
        " it out with all tools; or says what is wrong with it."
    )
    acts_in_session = True
    parallel = False
    input_schema: dict[str, Any] = {  # noqa: RUF012 -- nobody changes it
        "type": "object",
        "properties": {
            "plan": {"type": "string", "description": "The steps, in Markdown, as short as clear."}
        },
        "required": ["plan"],
        "additionalProperties": False,
    }

    def __init__(self, leave_plan_mode: Callable[[], Awaitable[Mode]]) -> None:
        """Call this once a person agrees; it returns the mode from then on."""
        self._leave_plan_mode = leave_plan_mode

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Leave the mode `plan`, if a person agreed to this plan."""
        try:
            is_approved = ToolContext.current().is_approved(self.name)
        except LookupError:
            is_approved = False
        if not is_approved:
            message = "nobody agreed to the plan: the mode is `plan` still"
            return ToolResult(success=False, error={"type": "NotApprovedError", "message": message})
        mode = await self._leave_plan_mode()
        return ToolResult(output=f"The person agreed. The mode is `{mode}`: carry out the plan.")
