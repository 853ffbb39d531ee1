"""The names of tools, in characters that cannot be mistaken for others."""

from amplifier_core._engine import check_tool_name
from amplifier_guard.guard_error import GuardError

__all__ = ["NameDenied", "check_tool_name"]


class NameDenied(GuardError, ValueError):
    """A name or id that is empty, too long, or could be mistaken for another one."""
