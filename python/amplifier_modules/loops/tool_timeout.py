"""How long a tool may run."""

from __future__ import annotations

from typing import Any

CAPABILITY = "guard.tool_timeout"
"""Capability: the most seconds that a tool may run, as the session's guard has them."""


def longest_tool(configured: float | None, coordinator: Any) -> float | None:
    """Return the shorter of what the loop's config and the session's guard allow, in seconds.

    Args:
        configured: The loop's own limit; None for none.
        coordinator: Has the capability; may be None.
    """
    capability = getattr(coordinator, "get_capability", None)
    allowed: Any = capability(CAPABILITY) if callable(capability) else None
    if isinstance(allowed, bool) or not isinstance(allowed, int | float) or allowed <= 0:
        return configured
    return float(allowed) if configured is None else min(float(allowed), configured)
