"""Validation of the arguments of tool calls against the JSON schemas of the tools."""

from amplifier_core._engine import ToolInputPolicy
from amplifier_guard.guard_error import GuardError

__all__ = ["ToolInputDenied", "ToolInputPolicy", "ToolSchemaDenied"]


class ToolInputDenied(GuardError, ValueError):
    """Invalid arguments of a tool call, or an unknown tool.

    Args:
        message: The place, what was found there, and what is allowed.
        tool: The tool.
        pointer: The place, as a JSON pointer into the arguments; empty for all arguments.
    """

    def __init__(self, message: str, tool: str = "", pointer: str = "") -> None:
        super().__init__(message)
        self.tool = tool
        self.pointer = pointer


class ToolSchemaDenied(GuardError, ValueError):
    """A schema that cannot be used: invalid, too large, or with references outside itself.

    Args:
        message: The place and what is wrong there.
        tool: The tool.
        pointer: The place, as a JSON pointer into the schema.
    """

    def __init__(self, message: str, tool: str = "", pointer: str = "") -> None:
        super().__init__(message)
        self.tool = tool
        self.pointer = pointer
