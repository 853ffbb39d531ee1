"""The names of tools: one spelling, which everyone sees alike."""

from amplifier_core._engine import check_tool_name
from amplifier_guard.guard_error import GuardError

__all__ = ["NameDenied", "check_tool_name"]


class NameDenied(GuardError, ValueError):
    """A name or id that is empty, too long, or could be taken for another one."""
