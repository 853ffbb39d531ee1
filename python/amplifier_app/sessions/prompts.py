"""The prompts of a stored session, and what was said to each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from amplifier_app.sessions.messages import list_texts

if TYPE_CHECKING:
    from amplifier_modules.stores import StoredEvent


@dataclass
class StoredPrompt:
    """A prompt, which began a turn."""

    number: int
    """The turn: 1 for the first."""
    before: int
    """The last event before it."""
    text: str
    answers: list[str] = field(default_factory=list[str])
    runs_commands: bool = False
    """Whether a command ran in the turn."""


def list_prompts(events: Iterable[StoredEvent]) -> list[StoredPrompt]:
    """Return the prompts of a session, the first one first."""
    from amplifier_core.events import EXECUTION_START
    from amplifier_modules.contexts.history_events import CONTEXT_MESSAGE
    from amplifier_modules.loops.boundary.call_context import TOOL_START

    prompts: list[StoredPrompt] = []
    for event in events:
        body = event.body
        if event.kind == EXECUTION_START and not body.get("goes_on"):
            text = str(body.get("prompt") or "")
            prompts.append(StoredPrompt(len(prompts) + 1, event.number - 1, text))
        elif prompts and event.kind == TOOL_START:
            prompts[-1].runs_commands |= body.get("tool_name") == "bash"
        elif prompts and event.kind == CONTEXT_MESSAGE:
            message = body["message"]
            if message.get("role") == "assistant":
                prompts[-1].answers += [each for each in list_texts(message) if each.strip()]
    return prompts
