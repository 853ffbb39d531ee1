"""Files that hold secrets, such as `.env`: a tool reads them after a person agreed to the call."""

from __future__ import annotations

import os

from amplifier_guard import PathPolicy, PathProtected
from amplifier_modules.tool.context import ToolContext

from .agreed_secrets import find_agreed_secrets


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
        except (OSError, ValueError):
            return False  # the read itself says so
        return self._are_named(str(path))

    def choose_policy(self, path: str) -> PathPolicy:
        """Return the policy of the call that runs now and reads at this path."""
        if is_call_approved(self._tool) and self.are_at(path):
            self.note_agreed(path)
            return self._approved
        return self._policy

    def note_agreed(self, path: str) -> None:
        """Note a path of the call that runs now, if a person agreed to it and it holds secrets."""
        if is_call_approved(self._tool) and self._are_named(path):
            target = self._approved.readable(path)
            find_agreed_secrets().note(os.path.join(self._policy.root, target))

    def _are_named(self, path: str) -> bool:
        try:
            self._policy.readable(path)
        except PathProtected:
            return True
        except (OSError, ValueError):
            return False
        return False


def is_call_approved(tool: str) -> bool:
    """Whether a person agreed to the call of this tool that runs now."""
    try:
        return ToolContext.current().is_approved(tool)
    except LookupError:
        return False
