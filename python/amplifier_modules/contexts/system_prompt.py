"""The system prompt of requests, rendered anew for each."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from ..running.kept_state import STATE
from .changes import OwnMessage
from .messages import Message

CONTEXT_SYSTEM_PROMPT = "context:system_prompt"
"""Event: the system prompt of requests has changed."""

SystemPromptFactory = Callable[[], Awaitable[str]]
"""Creates the system prompt of each request."""


@dataclass(frozen=True)
class SystemNote:
    """A text that a session has below its system prompt, from its first request to its last."""

    text: str
    digests: Mapping[str, str]
    """What is in it: the digest of each part."""

    @cached_property
    def body(self) -> dict[str, Any]:
        """Return it as JSON, always the same object: it is compared often."""
        return {"text": self.text, "digests": dict(self.digests)}


class SystemPrompt:
    """Renders the system prompt, and emits an event when it has changed."""

    __slots__ = ("_hooks", "_message", "factory", "note")

    def __init__(self, hooks: Any) -> None:
        """Have no system prompt yet; `hooks` gets the event, None for no events."""
        self.factory: SystemPromptFactory | None = None
        self._hooks = hooks
        self._message: Message | None = None
        self.note: SystemNote | None = None
        """What stands below it from the first request on."""

    def connect(self, hooks: Any) -> None:
        """Emit to this registry from now on; None for no events."""
        if hooks is not self._hooks:
            self._hooks, self._message = hooks, None

    @property
    def is_used(self) -> bool:
        """Whether there is a system prompt, or the last request had one."""
        return self.factory is not None or self.note is not None or self._message is not None

    @property
    def last_text(self) -> str:
        """The system prompt of the last request, with the note; empty before the first."""
        return "" if self._message is None else str(self._message["content"])

    async def make_messages(self) -> list[Message]:
        """Return the message with the system prompt, the same object while it has not changed."""
        if self.factory is None and self.note is None:
            self._message = None
            return []
        text = "" if self.factory is None else await self.factory()
        if self.note is not None:
            text = f"{text}\n\n{self.note.text}" if text else self.note.text
        if self._message is not None and self._message["content"] == text:
            return [self._message]
        self._message = message = OwnMessage(role="system", content=text)
        if self._hooks is not None:
            encoded = str(text).encode("utf-8", "surrogatepass")
            digest = hashlib.sha256(encoded).hexdigest()
            data = {"text": text, "sha256": digest, "characters": len(str(text))}
            await self._hooks.emit(CONTEXT_SYSTEM_PROMPT, data)
        return [message]


class KeptNote:
    """The note of a session, kept for another process: there it stands as it did."""

    kind: ClassVar[str] = f"{STATE}system_note"

    __slots__ = ("_prompt",)

    def __init__(self, prompt: SystemPrompt) -> None:
        """Keep the note of a system prompt."""
        self._prompt = prompt

    def describe(self) -> dict[str, Any] | None:
        """Return it as JSON; None without one."""
        return None if self._prompt.note is None else self._prompt.note.body

    def restore(self, body: Mapping[str, Any]) -> None:
        """Put it below the system prompt again."""
        self._prompt.note = SystemNote(body["text"], body["digests"])
