"""The events that providers emit, and how: each with the purpose of its call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from ..running.call_purpose import with_purpose

PROVIDER_CONCURRENCY = "provider:concurrency"
"""A call waits until another one is over."""
PROVIDER_FALLBACK = "provider:fallback"
"""A model is overloaded, and another one is asked in its place."""
PROVIDER_CLOUDFLARE_CHALLENGE = "provider:cloudflare_challenge"
"""A page that wants to see a person answered in the place of the service."""
LLM_PREFIX_CHANGED = "llm:prefix_changed"
"""A request does not begin with all of the one before it."""
PROVIDER_PULL_PROGRESS = "provider:pull_progress"
"""A model is being downloaded to the server."""

Emit: TypeAlias = Callable[[str, dict[str, Any]], Awaitable[None]]
"""Emits an event with its payload."""


class Emitter:
    """Emits events to the hooks of a session, if there are any."""

    def __init__(self, hooks: Any) -> None:
        """Emit to a registry of hooks; None for no events."""
        self.hooks = hooks

    async def emit(self, event: str, data: dict[str, Any]) -> None:
        """Emit an event, with the `role` and the `purpose` of the call it is about."""
        if self.hooks is not None:
            await self.hooks.emit(event, with_purpose(event, data))
