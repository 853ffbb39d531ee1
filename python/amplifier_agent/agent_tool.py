"""An agent as a tool of another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amplifier_core.models import ToolResult
from amplifier_modules.function_tool import check_description, check_name

from .session import Session, running_session

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"prompt": {"type": "string", "description": "What the agent is to do."}},
    "required": ["prompt"],
    "additionalProperties": False,
}


class AgentTool:
    """Asks an agent; a turn of it that is not `completed` is an error of the tool."""

    def __init__(
        self, name: str, description: str, open_session: Callable[[object], Session[Any]]
    ) -> None:
        """Offer an agent under this name.

        Args:
            name: What the model calls it.
            description: What the model is told.
            open_session: Returns a session of the agent with a `state`.

        Raises:
            TypeError: The name or the description is no text.
            ValueError: The name cannot be used.
        """
        check_name(name)
        check_description(description)
        self.name = name
        self.description = description
        self.input_schema = _SCHEMA
        self._open_session = open_session

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Run a turn of the agent with the prompt."""
        parent = running_session()
        child = self._open_session(None if parent is None else parent.state)
        if parent is not None:
            parent.adopt(child)
        try:
            async with child:
                result = await child.run(str(input.get("prompt", "")))
        finally:
            if parent is not None:
                parent.release(child)
        if result.status == "completed":
            return ToolResult(output=result.text)
        message = f"the agent `{self.name}` ended as `{result.status}`: {result.reason}"
        return ToolResult(success=False, error={"message": message})
