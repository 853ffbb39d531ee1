"""A provider without a model, for the tests of loops."""

from __future__ import annotations

from typing import Any

from ..message_models import ChatResponse, TextBlock, ToolCall, Usage
from ..models import ModelInfo, ProviderInfo


class ScriptedProvider:
    """Answers every request with the same text, and keeps the requests in `requests`."""

    name = "mock-provider"

    def __init__(self, text: str = "Mock response") -> None:
        self.text = text
        self.requests: list[Any] = []

    def get_info(self) -> ProviderInfo:
        """Describe the provider."""
        return ProviderInfo(id=self.name, display_name="Mock Provider")

    async def list_models(self) -> list[ModelInfo]:
        """List nothing: there is no model."""
        return []

    async def complete(self, request: Any, **_: Any) -> ChatResponse:
        """Keep the request and answer."""
        self.requests.append(request)
        usage = Usage(input_tokens=1, output_tokens=1, total_tokens=2)
        return ChatResponse(
            content=[TextBlock(text=self.text)], usage=usage, finish_reason="end_turn"
        )

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        """List the tool calls of an answer."""
        return list(response.tool_calls or [])
