"""Files that hold secrets, such as `.env`: a tool reads them after a person agreed to the call."""

from __future__ import annotations

from amplifier_guard import PathPolicy, PathProtected
from amplifier_modules.tool.context import ToolContext


class SecretFiles:
    """Which policy the calls of one tool read by."""

    def __init__(self, tool: str, policy: PathPolicy) -> None:
        """Read by this policy, in approved calls of the tool files that hold secrets too."""
        self._tool = tool
        self._policy = policy
        self._approved = policy.with_secrets()

    def are_at(self, path: object) -> bool:
        """Whether a path leads to one of them."""
        try:
            self._policy.resolve(str(path))
            self._policy.readable(str(path))
        except PathProtected:
            return True
        except (OSError, ValueError):
            return False  # the read itself says so
        return False

    def choose_policy(self, path: str) -> PathPolicy:
        """Return the policy of the call that runs now and reads at this path."""
        is_approved = is_call_approved(self._tool)
        return self._approved if is_approved and self.are_at(path) else self._policy


def is_call_approved(tool: str) -> bool:
    """Whether a person agreed to the call of this tool that runs now."""
    try:
        return ToolContext.current().is_approved(tool)
    except LookupError:
        return False
