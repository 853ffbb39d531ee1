"""The events whose handlers decide about a step; those of all others only observe."""

from __future__ import annotations

JUDGED_EVENTS = frozenset(
    {
        "prompt:submit",
        "provider:request",
        "tool:pre",
        "tool:post",
        "orchestrator:goal_progress",
        "orchestrator:steering_submitted",
    }
)
"""The events whose loops do as their handlers answer."""
