"""The system prompt of requests, rendered anew for each."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from typing import Any

from .changes import OwnMessage
from .messages import Message

CONTEXT_SYSTEM_PROMPT = "context:system_prompt"
"""Event: the system prompt of requests has changed."""

SystemPromptFactory = Callable[[], Awaitable[str]]
"""Creates the system prompt of each request."""


class SystemPrompt:
    """Renders the system prompt, and emits an event when it has changed."""

    __slots__ = ("_hooks", "_message", "factory")

    def __init__(self, hooks: Any) -> None:
        """Have no system prompt yet; `hooks` gets the event, None for no events."""
        self.factory: SystemPromptFactory | None = None
        self._hooks = hooks
        self._message: Message | None = None

    def connect(self, hooks: Any) -> None:
        """Emit to this registry from now on; None for no events."""
        if hooks is not self._hooks:
            self._hooks, self._message = hooks, None

    @property
    def is_used(self) -> bool:
        """Whether there is a system prompt, or the last request had one."""
        return self.factory is not None or self._message is not None

    async def make_messages(self) -> list[Message]:
        """Return the message with the system prompt, the same object while it has not changed."""
        if self.factory is None:
            self._message = None
            return []
        text = await self.factory()
        if self._message is not None and self._message["content"] == text:
            return [self._message]
        self._message = message = OwnMessage(role="system", content=text)
        if self._hooks is not None:
            encoded = str(text).encode("utf-8", "surrogatepass")
            digest = hashlib.sha256(encoded).hexdigest()
            data = {"text": text, "sha256": digest, "characters": len(str(text))}
            await self._hooks.emit(CONTEXT_SYSTEM_PROMPT, data)
        return [message]
