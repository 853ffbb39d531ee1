"""`provider-mock`: a provider that gives fixed answers in turn, for tests of whole applications."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from amplifier_core.message_models import (
    ChatRequest,
    ChatResponse,
    Message,
    TextBlock,
    ToolCall,
    ToolCallBlock,
    Usage,
)
from amplifier_providers.settings import Settings, read_settings

from .base import BaseProvider

__amplifier_module_type__ = "provider"

_RESPONSES = ("I see.", "Done.", "Is there anything else?")
_WORD = "read"


class MockSettings(Settings):
    """What the provider answers."""

    responses: list[str] = Field(default_factory=lambda: list(_RESPONSES), min_length=1)
    """The answers in turn; the first request gets the second one, as public modules do it."""


__amplifier_settings__ = MockSettings


class MockProvider(BaseProvider):
    """Answers with one text after another, and calls the tool `read` where the last message says so.

    `ScriptedProvider` says more: calls of any tool, errors, and what was asked.
    """

    name = "mock"

    def __init__(self, responses: list[str] | None = None) -> None:
        """Set the answers; None for those of the settings.

        Raises:
            ValueError: There is none.
        """
        self.responses = list(_RESPONSES if responses is None else responses)
        if not self.responses:
            raise ValueError("`responses` is empty (must have at least one text)")
        self.call_count = 0

    async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
        """Return the answer whose turn it is, or a call of `read`."""
        del options
        self.call_count += 1
        usage = Usage(input_tokens=10, output_tokens=20, total_tokens=30)
        last = request.messages[-1] if request.messages else None
        if last is not None and last.role == "user" and _WORD in _join_text(last):
            call_id, arguments = f"mock_{self.call_count}", {"path": "test.txt"}
            return ChatResponse(
                content=[ToolCallBlock(id=call_id, name=_WORD, input=arguments)],
                tool_calls=[ToolCall(id=call_id, name=_WORD, arguments=arguments)],
                usage=usage,
                finish_reason="tool_use",
            )
        text = self.responses[self.call_count % len(self.responses)]
        return ChatResponse(content=[TextBlock(text=text)], usage=usage, finish_reason="end_turn")


def _join_text(message: Message) -> str:
    if isinstance(message.content, str):
        return message.content.lower()
    texts = (block.text for block in message.content if isinstance(block, TextBlock))
    return " ".join(texts).lower()


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
    """Mount the provider as `mock`."""
    settings = read_settings(MockSettings, config, "provider-mock")
    await coordinator.mount("providers", MockProvider(settings.responses), name=MockProvider.name)
