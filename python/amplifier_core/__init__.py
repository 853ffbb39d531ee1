"""An agent kernel: sessions that run providers, tools, contexts and hooks, on a Rust core.

Names are resolved at first use, so that importing the package costs next to nothing. They behave
like ordinary names all the same: they can be set, deleted and patched.
"""

import sys as _sys
from types import ModuleType as _ModuleType

from ._kernel.engine_choice import __version__ as __version__
from ._kernel.engine_choice import extension as _extension

TYPE_CHECKING = False  # what type checkers take for true, without the cost of `typing`
if TYPE_CHECKING:
    from typing import Any

    from . import capabilities
    from ._engine import RustCancellationToken, RustCoordinator, RustHookRegistry, RustSession
    from ._engine import RustCancellationToken as CancellationToken
    from ._engine import RustCoordinator as ModuleCoordinator
    from ._engine import RustHookRegistry as HookRegistry
    from ._engine import RustSession as AmplifierSession
    from .cancellation import CancellationState
    from .content_models import (
        ContentBlock,
        ContentBlockType,
        TextContent,
        ThinkingContent,
        ToolCallContent,
        ToolResultContent,
    )
    from .interfaces import (
        ApprovalProvider,
        ApprovalRequest,
        ApprovalResponse,
        ContextManager,
        HookHandler,
        Orchestrator,
        Provider,
        Tool,
    )
    from .llm_errors import (
        AbortError,
        AccessDeniedError,
        AuthenticationError,
        ConfigurationError,
        ContentFilterError,
        ContextLengthError,
        InvalidRequestError,
        InvalidToolCallError,
        LLMError,
        LLMTimeoutError,
        NetworkError,
        NotFoundError,
        ProviderUnavailableError,
        QuotaExceededError,
        RateLimitError,
        StreamError,
    )
    from .loader import ModuleLoader, ModuleValidationError
    from .message_models import (
        ChatRequest,
        ChatResponse,
        Degradation,
        ImageBlock,
        Message,
        ReasoningBlock,
        RedactedThinkingBlock,
        ResponseFormat,
        ResponseFormatJson,
        ResponseFormatJsonSchema,
        ResponseFormatText,
        TextBlock,
        ThinkingBlock,
        ToolCall,
        ToolCallBlock,
        ToolResultBlock,
        ToolSpec,
        Usage,
    )
    from .models import (
        ConfigField,
        ContextInjection,
        HookResult,
        ModelInfo,
        ModuleInfo,
        Pricing,
        ProviderInfo,
        SessionStatus,
        ToolResult,
    )
    from .testing import (
        EventRecorder,
        MockContextManager,
        MockCoordinator,
        MockTool,
        ScriptedOrchestrator,
        create_test_coordinator,
        wait_for,
    )
    from .utils.retry import RetryConfig, classify_error_message, retry_with_backoff

RUST_AVAILABLE = _extension is not None
"""Whether the names below are the classes of the Rust extension."""

__all__ = [  # noqa: RUF022 (plain alphabetical, capitals first)
    "AbortError",
    "AccessDeniedError",
    "AmplifierSession",
    "ApprovalProvider",
    "ApprovalRequest",
    "ApprovalResponse",
    "AuthenticationError",
    "CancellationState",
    "CancellationToken",
    "ChatRequest",
    "ChatResponse",
    "ConfigField",
    "ConfigurationError",
    "ContentBlock",
    "ContentBlockType",
    "ContentFilterError",
    "ContextInjection",
    "ContextLengthError",
    "ContextManager",
    "Degradation",
    "EventRecorder",
    "HookHandler",
    "HookRegistry",
    "HookResult",
    "ImageBlock",
    "InvalidRequestError",
    "InvalidToolCallError",
    "LLMError",
    "LLMTimeoutError",
    "Message",
    "MockContextManager",
    "MockCoordinator",
    "MockTool",
    "ModelInfo",
    "ModuleCoordinator",
    "ModuleInfo",
    "ModuleLoader",
    "ModuleValidationError",
    "NetworkError",
    "NotFoundError",
    "Orchestrator",
    "Pricing",
    "Provider",
    "ProviderInfo",
    "ProviderUnavailableError",
    "QuotaExceededError",
    "RUST_AVAILABLE",
    "RateLimitError",
    "ReasoningBlock",
    "RedactedThinkingBlock",
    "ResponseFormat",
    "ResponseFormatJson",
    "ResponseFormatJsonSchema",
    "ResponseFormatText",
    "RetryConfig",
    "RustCancellationToken",
    "RustCoordinator",
    "RustHookRegistry",
    "RustSession",
    "ScriptedOrchestrator",
    "SessionStatus",
    "StreamError",
    "TextBlock",
    "TextContent",
    "ThinkingBlock",
    "ThinkingContent",
    "Tool",
    "ToolCall",
    "ToolCallBlock",
    "ToolCallContent",
    "ToolResult",
    "ToolResultBlock",
    "ToolResultContent",
    "ToolSpec",
    "Usage",
    "capabilities",
    "classify_error_message",
    "create_test_coordinator",
    "retry_with_backoff",
    "wait_for",
]

_ENGINE_NAMES = {
    "RustCancellationToken": ("cancellation", "CancellationToken"),
    "RustCoordinator": ("coordinator", "ModuleCoordinator"),
    "RustHookRegistry": ("hooks", "HookRegistry"),
    "RustSession": ("session", "AmplifierSession"),
}
"""Classes of the extension, and their counterparts in plain Python: submodule and name."""

_SUBMODULE_NAMES = {
    "cancellation": "CancellationState",
    "content_models": "ContentBlock ContentBlockType TextContent ThinkingContent ToolCallContent "
    "ToolResultContent",
    "interfaces": "ApprovalProvider ApprovalRequest ApprovalResponse ContextManager HookHandler "
    "Orchestrator Provider Tool",
    "llm_errors": "AbortError AccessDeniedError AuthenticationError ConfigurationError "
    "ContentFilterError ContextLengthError InvalidRequestError InvalidToolCallError LLMError "
    "LLMTimeoutError NetworkError NotFoundError ProviderUnavailableError QuotaExceededError "
    "RateLimitError StreamError",
    "loader": "ModuleLoader ModuleValidationError",
    "message_models": "ChatRequest ChatResponse Degradation ImageBlock Message ReasoningBlock "
    "RedactedThinkingBlock ResponseFormat ResponseFormatJson ResponseFormatJsonSchema "
    "ResponseFormatText TextBlock ThinkingBlock ToolCall ToolCallBlock ToolResultBlock ToolSpec "
    "Usage",
    "_hook_result": "ContextInjection HookResult",
    "models": "ConfigField ModelInfo ModuleInfo Pricing ProviderInfo SessionStatus ToolResult",
    "testing": "EventRecorder MockContextManager MockCoordinator MockTool ScriptedOrchestrator "
    "create_test_coordinator wait_for",
    "utils.retry": "RetryConfig classify_error_message retry_with_backoff",
}
"""Top-level names of each submodule of this package, separated by spaces."""

_SUBMODULES = frozenset(
    {
        "approval",
        "cancellation",
        "capabilities",
        "content_models",
        "coordinator",
        "correlation",
        "display",
        "events",
        "hooks",
        "interfaces",
        "llm_errors",
        "loader",
        "message_models",
        "models",
        "module_sources",
        "testing",
        "utils",
        "validation",
    }
)
"""Submodules that an attribute access imports: programs reach for them after a bare import."""

_HOMES = {
    name: (submodule, name)
    for submodule, names in _SUBMODULE_NAMES.items()
    for name in names.split()
}
for _name, _twin in _ENGINE_NAMES.items():
    # Both top-level names of a class lead to the engine that was chosen.
    _HOMES[_name] = _HOMES[_twin[1]] = _twin if _extension is None else ("_engine", _name)
"""Submodule that each name comes from, and its name there."""

_deleted: set[str] = set()


def __getattr__(name: str) -> "Any":
    if name not in _deleted:
        from importlib import import_module

        if name in _SUBMODULES:
            return import_module(f"{__name__}.{name}")
        if name in _HOMES:
            submodule, attribute = _HOMES[name]
            value = getattr(import_module(f"{__name__}.{submodule}"), attribute)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_SUBMODULES} - _deleted)


class _Package(_ModuleType):
    """A module whose names can be deleted before their first use."""

    def __delattr__(self, name: str) -> None:
        if name in _deleted or name not in _HOMES:
            super().__delattr__(name)
            return
        self.__dict__.pop(name, None)
        _deleted.add(name)

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        _deleted.discard(name)


_sys.modules[__name__].__class__ = _Package
