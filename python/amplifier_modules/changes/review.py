"""Whether a person is asked about every change of a session."""

from __future__ import annotations

from typing import Any

from amplifier_core.session_capabilities import APPROVAL_POLICY
from amplifier_modules.tool.context import ToolContext


def is_reviewing() -> bool:
    """Whether it is so in the session whose call runs here, by the mode of `hooks-approval`."""
    try:
        coordinator = ToolContext.current().coordinator
    except LookupError:
        return False
    find: Any = getattr(coordinator, "get_capability", None)
    policy = find(APPROVAL_POLICY) if callable(find) else None
    return getattr(policy, "is_reviewing", False) is True
