"""The two tools with which models find and call those that requests do not describe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from amplifier_core.message_models import ToolSpec
from amplifier_core.models import ToolResult

from .listing import describe_fully, find_specs

SEARCH_TOOLS = "search_tools"
CALL_TOOL = "call_tool"

_MAX_FOUND = 5
"""Tools that a search describes, other than those that it names."""
_MAX_NAMES = 20


class SearchTools:
    """Describes the tools that a query names or is about."""

    read_only = True

    input_schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "description": "Names of tools, or words about what is to be done.",
            }
        },
        "required": ["query"],
    }

    def __init__(
        self,
        name: str,
        description: str,
        find: Callable[[], Mapping[str, ToolSpec]],
        note_revealed: Callable[[Sequence[ToolSpec]], object],
    ) -> None:
        """Search tools.

        Args:
            name: What models call it.
            description: What models read of it.
            find: Returns the tools that there are now, by name.
            note_revealed: Is called with the tools that a model gets to read in full.
        """
        self.name = name
        self.description = description
        self.how_to_call = ""
        """What models read behind what was found."""
        self._find = find
        self._note_revealed = note_revealed

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Return the best matches with their schemas."""
        query = str(input.get("query") or "")
        found, others = find_specs(self._find(), query, _MAX_FOUND)
        if not found:
            return ToolResult(success=True, output="No tool matches; search with other words.")
        lines = [describe_fully(spec) for spec in found]
        self._note_revealed(found)
        if others:
            left = f" and {len(others) - _MAX_NAMES} more" if len(others) > _MAX_NAMES else ""
            lines.append(f"Others that match: {', '.join(others[:_MAX_NAMES])}{left}")
        return ToolResult(success=True, output="\n".join([*lines, self.how_to_call]))


class CallTool:
    """What models call others through; it runs only where they name none."""

    description = "Call a tool that is not among your functions, by its name."
    input_schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "The name of the tool."},
            "arguments": {
                "type": "object",
                "description": "Its arguments, as its schema says.",
                "additionalProperties": True,
            },
        },
        "required": ["name", "arguments"],
    }

    def __init__(self, name: str) -> None:
        """Have this name."""
        self.name = name

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Say what was wrong: a call that names a tool is a call of that one."""
        del input
        message = f"`name` must be the name of a tool other than `{self.name}`"
        return ToolResult(success=False, error={"message": message, "type": "ValueError"})
