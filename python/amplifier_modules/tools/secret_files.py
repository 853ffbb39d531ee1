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
        try:
            is_approved = ToolContext.current().is_approved(self._tool)
        except LookupError:
            is_approved = False
        return self._approved if is_approved and self.are_at(path) else self._policy
