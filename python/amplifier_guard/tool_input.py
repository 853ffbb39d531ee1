"""The arguments of tool calls, against the JSON schemas of the tools."""

from amplifier_core._engine import ToolInputPolicy
from amplifier_guard.guard_error import GuardError

__all__ = ["ToolInputDenied", "ToolInputPolicy", "ToolSchemaDenied"]


class ToolInputDenied(GuardError, ValueError):
    """Arguments that a tool does not run with, or a tool that is unknown.

    Args:
        message: The place, what was found there, and what would be right.
        tool: The tool.
        pointer: The place, as a JSON pointer into the arguments; empty for all of them.
    """

    def __init__(self, message: str, tool: str = "", pointer: str = "") -> None:
        super().__init__(message)
        self.tool = tool
        self.pointer = pointer


class ToolSchemaDenied(GuardError, ValueError):
    """A schema that cannot be used: broken, endless, or not complete in itself.

    Args:
        message: The place and what is wrong with it.
        tool: The tool.
        pointer: The place, as a JSON pointer into the schema.
    """

    def __init__(self, message: str, tool: str = "", pointer: str = "") -> None:
        super().__init__(message)
        self.tool = tool
        self.pointer = pointer
