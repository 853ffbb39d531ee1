"""Protocols of the modules that a session is made of.

The protocols are for type checkers and readers. They cannot be checked with `isinstance`; the
kernel takes whatever has the methods it calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from .message_models import ChatRequest, ChatResponse, ToolCall
from .models import (
    ApprovalRequest,
    ApprovalResponse,
    HookResult,
    ModelInfo,
    ProviderInfo,
    ToolResult,
)

if TYPE_CHECKING:
    from ._engine import RustHookRegistry as HookRegistry

__all__ = [
    "ApprovalProvider",
    "ApprovalRequest",
    "ApprovalResponse",
    "ContextManager",
    "HookHandler",
    "Orchestrator",
    "Provider",
    "Tool",
]


class Orchestrator(Protocol):
    """The loop of a session: from a prompt to an answer."""

    async def execute(
        self,
        prompt: str,
        context: ContextManager,
        providers: dict[str, Provider],
        tools: dict[str, Tool],
        hooks: HookRegistry,
        **kwargs: Any,
    ) -> str:
        """Run one turn and return the text of the answer.

        Args:
            prompt: What the user wrote.
            context: Memory of the conversation.
            providers: Mounted providers by name.
            tools: Mounted tools by name.
            hooks: Registry to emit events with.
            **kwargs: Further arguments of the kernel; currently `coordinator`.
        """
        ...


class Provider(Protocol):
    """Access to one vendor's models."""

    @property
    def name(self) -> str:
        """Name the provider is mounted under."""
        ...

    def get_info(self) -> ProviderInfo:
        """Describe the provider: its name, credentials and settings."""
        ...

    async def list_models(self) -> list[ModelInfo]:
        """List the models that can be asked."""
        ...

    async def complete(self, request: ChatRequest, **kwargs: Any) -> ChatResponse:
        """Send a request to a model and return its answer.

        Raises:
            LLMError: The call failed.
        """
        ...

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        """List the tool calls of an answer."""
        ...


class Tool(Protocol):
    """Something that a model can call."""

    @property
    def name(self) -> str:
        """Name the model calls the tool by."""
        ...

    @property
    def description(self) -> str:
        """What the tool does, written for the model."""
        ...

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON schema of the input; empty when anything goes."""
        return {}

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Run the tool and return the result; failures are results, too."""
        ...


class ContextManager(Protocol):
    """The memory of a conversation."""

    async def add_message(self, message: dict[str, Any]) -> None:
        """Append one message."""
        ...

    async def get_messages_for_request(
        self, token_budget: int | None = None, provider: Any = None
    ) -> list[dict[str, Any]]:
        """Return the messages for the next request, shortened to fit.

        Args:
            token_budget: Maximum number of tokens; None lets the context decide.
            provider: Provider that the request goes to, whose limits count.
        """
        ...

    async def get_messages(self) -> list[dict[str, Any]]:
        """Return all messages, nothing shortened."""
        ...

    async def set_messages(self, messages: list[dict[str, Any]]) -> None:
        """Replace all messages."""
        ...

    async def clear(self) -> None:
        """Forget all messages."""
        ...


class HookHandler(Protocol):
    """A function that is called when an event happens."""

    async def __call__(self, event: str, data: dict[str, Any]) -> HookResult:
        """Handle the event; `data` is the handler's own copy."""
        ...


class ApprovalProvider(Protocol):
    """Decides on `ApprovalRequest`s."""

    async def request_approval(self, request: ApprovalRequest) -> ApprovalResponse:
        """Decide on the request."""
        ...
